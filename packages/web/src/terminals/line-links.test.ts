import { describe, expect, it } from 'vitest'
import { createPathResolver } from '../chat/places.ts'
import { linksInLine, localPort } from './line-links.ts'

const resolve = createPathResolver(['src/app.ts', 'src/deep/only.ts', 'a/twice.ts', 'b/twice.ts'])
const root = '/home/user/workspace'
const linked = (text: string) =>
  linksInLine(text, resolve, root).map(({ start, end, target }) => [
    text.slice(start, end),
    target.kind === 'url' ? target.url : `${target.path} ${target.lines.start}`,
  ])

describe('links in the output of a terminal', () => {
  it('[PAGE34] a file with a line, however a tool writes it, leads to that line', () => {
    expect(linked('src/app.ts:12:5 - error TS2304')).toEqual([['src/app.ts:12:5', 'src/app.ts 12']])
    expect(linked('src/app.ts(7,1): error')).toEqual([['src/app.ts(7,1)', 'src/app.ts 7']])
    expect(linked('    at main (/home/user/workspace/src/app.ts:3:9)')).toEqual([
      ['/home/user/workspace/src/app.ts:3:9', 'src/app.ts 3'],
    ])
    expect(linked('at file:///home/user/workspace/src/app.ts:4')).toEqual([
      ['file:///home/user/workspace/src/app.ts:4', 'src/app.ts 4'],
    ])
    expect(linked('./src/app.ts:1 only.ts:2')).toEqual([
      ['./src/app.ts:1', 'src/app.ts 1'],
      ['only.ts:2', 'src/deep/only.ts 2'],
    ])
  })

  it('[PAGE34] what is no file of the workspace, or more than one, is left alone', () => {
    for (const text of ['gone.ts:1', 'twice.ts:1', '12:30:45', 'src/app.ts', 'src/app.ts:0', 'host:80'])
      expect(linked(text)).toEqual([])
  })

  it('[PAGE34] addresses lose the punctuation around them', () => {
    expect(linked('Local: http://localhost:5173/.')).toEqual([
      ['http://localhost:5173/', 'http://localhost:5173/'],
    ])
    expect(linked('(see https://example.com/a?b=c#d)')).toEqual([
      ['https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
    ])
  })

  it('[PAGE34] addresses of the workspace itself are told by their port', () => {
    expect(localPort('http://localhost:5173/x')).toBe(5173)
    expect(localPort('http://127.0.0.1:80')).toBe(80)
    expect(localPort('http://0.0.0.0:3000')).toBe(3000)
    expect(localPort('http://[::1]:4000/')).toBe(4000)
    expect(localPort('https://localhost')).toBe(443)
    expect(localPort('https://example.com:3000')).toBeNull()
    expect(localPort('http://localhost.example.com:3000')).toBeNull()
  })
})

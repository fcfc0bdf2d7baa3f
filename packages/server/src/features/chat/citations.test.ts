import { describe, expect, it } from 'vitest'
import { citationsOf, maxCitations } from './citations.ts'
import type { Passage } from './workspace-context.ts'

const passage = (
  path: string,
  startLine: number,
  endLine: number,
  contentSha256 = `sha of ${path}`,
): Passage => ({
  path,
  startLine,
  endLine,
  content: '',
  language: null,
  contentSha256,
})

const places = (answer: string, passages: Passage[]) =>
  citationsOf(answer, passages).map(({ path, startLine, endLine }) => `${path}:${startLine}-${endLine}`)

const router = passage('src/http/router.ts', 10, 80)
const server = passage('src/server.ts', 1, 40)

describe('citations', () => {
  it('[CHAT10] a citation is a place the answer names, with the hash of the file', () => {
    expect(citationsOf('Routes are matched in [src/http/router.ts:12-40].', [router, server])).toEqual([
      { path: 'src/http/router.ts', startLine: 12, endLine: 40, contentSha256: 'sha of src/http/router.ts' },
    ])
  })

  it.each([
    ['src/http/router.ts:12', ['src/http/router.ts:12-12']],
    ['`src/http/router.ts:12:5`', ['src/http/router.ts:12-12']],
    ['src/http/router.ts#L12-L40', ['src/http/router.ts:12-40']],
    ['src/http/router.ts:L12', ['src/http/router.ts:12-12']],
    ['src/http/router.ts:12–40', ['src/http/router.ts:12-40']],
    ['[src/http/router.ts:12-14,30-33]', ['src/http/router.ts:12-14', 'src/http/router.ts:30-33']],
    ['(see ./src/http/router.ts:12-14)', ['src/http/router.ts:12-14']],
    ['/src/http/router.ts:12-14', ['src/http/router.ts:12-14']],
    ['router.ts:12-14', ['src/http/router.ts:12-14']],
    ['http/router.ts:12-14', ['src/http/router.ts:12-14']],
    ['src/http/router.ts:40-12', ['src/http/router.ts:12-40']],
    ['[src/server.ts:1-3, src/http/router.ts:12-14]', ['src/server.ts:1-3', 'src/http/router.ts:12-14']],
    ['src/http/router.ts:12, 15 things', ['src/http/router.ts:12-12']],
  ])('[CHAT10] it is understood however models write it: %s', (answer, expected) => {
    expect(places(answer, [router, server])).toEqual(expected)
  })

  it('[CHAT11] lines that the model was not given are cut off', () => {
    expect(places('src/http/router.ts:70-120', [router])).toEqual(['src/http/router.ts:70-80'])
  })

  it('[CHAT11] a place that no passage covers is no citation', () => {
    const both = [router, server]
    const answer = 'src/server.ts:3 src/http/router.ts:200-210 src/other.ts:1-4 lib/server.ts:5 myserver.ts:6'
    expect(places(answer, both)).toEqual(['src/server.ts:3-3'])
  })

  it('[CHAT11] a short name that two files share names neither', () => {
    const two = [passage('a/index.ts', 1, 9), passage('b/index.ts', 1, 9), server]
    expect(places('index.ts:3 and a/index.ts:4 and src/server.ts:5', two)).toEqual([
      'a/index.ts:4-4',
      'src/server.ts:5-5',
    ])
  })

  it('[CHAT10] paths with brackets and spaces are found', () => {
    const odd = [passage('app/[id]/my page.tsx', 1, 30)]
    expect(places('Look at [app/[id]/my page.tsx:4-9].', odd)).toEqual(['app/[id]/my page.tsx:4-9'])
  })

  it('[CHAT12] without a citation in the answer, the passages it was given are cited', () => {
    expect(places('It routes.', [router, server])).toEqual(['src/http/router.ts:10-80', 'src/server.ts:1-40'])
    expect(citationsOf('It routes.', [])).toEqual([])
  })

  it('[CHAT10] the same place twice, or a part of it, is one citation', () => {
    const answer = 'src/server.ts:3-4, later src/server.ts:1-9, src/server.ts:2 and src/server.ts:1-9'
    expect(places(answer, [server])).toEqual(['src/server.ts:1-9'])
  })

  it('[CHAT10] an answer that cites without end has a bounded list', () => {
    const long = passage('a.ts', 1, 100_000)
    const answer = Array.from({ length: 5_000 }, (_, index) => `a.ts:${index * 3 + 1}`).join(' ')
    expect(citationsOf(answer, [long])).toHaveLength(maxCitations)
  })
})

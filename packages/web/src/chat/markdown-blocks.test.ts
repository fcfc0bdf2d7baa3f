import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitMarkdownBlocks } from './markdown-blocks.ts'

describe('an answer while it arrives', () => {
  test('[PAGE8] paragraphs, headings, lists and code are blocks; code keeps its blank lines', () => {
    const text = '# Title\n\nOne\ntwo\n\n- a\n\n- b\n\n  more of b\n\n```ts\nlet a\n\nlet b\n```\n\nEnd'
    expect(splitMarkdownBlocks(text)).toEqual([
      '# Title\n\n',
      'One\ntwo\n\n',
      '- a\n\n- b\n\n  more of b\n\n',
      '```ts\nlet a\n\nlet b\n```\n\n',
      'End',
    ])
  })

  test('[PAGE8] a longer fence holds a shorter one; an open fence holds all that follows', () => {
    const text = '````md\n```\n\nx\n```\n````\n\n~~~\n\ny\n\nz'
    expect(splitMarkdownBlocks(text)).toEqual(['````md\n```\n\nx\n```\n````\n\n', '~~~\n\ny\n\nz'])
  })

  test('[PAGE8] definitions keep the text whole', () => {
    expect(splitMarkdownBlocks('See [a].\n\nMore\n\n[a]: http://a')).toHaveLength(1)
  })

  const line = fc.constantFrom(
    'text',
    '',
    '',
    '- item',
    '1. item',
    '  more',
    '```',
    '```ts',
    '~~~~',
    '# head',
    '| a |',
  )
  const markdown = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'))

  test('[PAGE8] no character is lost or moved', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        expect(splitMarkdownBlocks(text).join('')).toBe(text)
      }),
    )
  })

  test('[PAGE8] blocks above the last stay the same while whole lines arrive', () => {
    fc.assert(
      fc.property(markdown, fc.nat(), (text, cut) => {
        const lines = text.split(/(?<=\n)/)
        const before = splitMarkdownBlocks(lines.slice(0, cut % (lines.length + 1)).join(''))
        expect(splitMarkdownBlocks(text).slice(0, Math.max(0, before.length - 1))).toEqual(
          before.slice(0, -1),
        )
      }),
    )
  })
})

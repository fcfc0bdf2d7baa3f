import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzyFind } from './fuzzy.ts'

const paths = [
  'package.json',
  'packages/server/src/platform/http/rate-limiter.ts',
  'packages/server/src/features/chat/chat-routes.ts',
  'packages/web/src/chat/chat-panel.tsx',
  'packages/web/src/shell/status-line.tsx',
  'docs/guides/run.md',
]
const find = (query: string) =>
  fuzzyFind(paths, query, { textOf: (path) => path, limit: 3 }).map((match) => match.item)

describe('quick open', () => {
  test('[PAGE6] a file is found by its name, by initials, and by parts of its path', () => {
    expect(find('ratelim')[0]).toBe('packages/server/src/platform/http/rate-limiter.ts')
    expect(find('chatpanel')[0]).toBe('packages/web/src/chat/chat-panel.tsx')
    expect(find('server chat')[0]).toBe('packages/server/src/features/chat/chat-routes.ts')
    expect(find('sl')[0]).toBe('packages/web/src/shell/status-line.tsx')
    expect(find('zzz')).toEqual([])
    expect(find('')).toEqual(paths.slice(0, 3))
  })

  test('[PAGE6] what matched are the characters asked for, in order', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.infiniteStream(fc.boolean()), (text, keep) => {
        const query = Array.from(text.replaceAll(/\s/g, '').replaceAll(/[^ -~]/g, ''))
          .filter(() => keep.next().value)
          .join('')
        const [match] = fuzzyFind([text], query, { textOf: (each) => each, limit: 1 })
        if (query === '') return
        const matched = match?.positions.map((position) => text[position]).join('')
        expect(matched?.toLowerCase()).toBe(query.toLowerCase())
      }),
    )
  })
})

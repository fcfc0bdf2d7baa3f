import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type IdeLocation, ideHref, panels, parseIdeLocation } from './ide-url.ts'

function read(href: string) {
  const url = new URL(href, 'http://localhost')
  return parseIdeLocation(url.pathname, url.search, url.hash)
}

test('[PAGE5] an address reads as a person would write it', () => {
  const href = ideHref({ workspaceId: 'ws_1', file: 'src/a.ts', lines: { start: 12, end: 40 } })
  expect(href).toBe('/w/ws_1/files?file=src/a.ts#L12-40')
  expect(read('/w/ws_1')?.panel).toBe('files')
  expect(read('/w/ws_1/nothing')).toBeNull()
  expect(read('/settings')).toBeNull()
})

test('[PAGE5] whatever a file is called, its address leads back to it', () => {
  const name = fc.string({ minLength: 1, unit: 'grapheme' })
  const location = fc.record<IdeLocation>({
    workspaceId: fc.stringMatching(/^ws_[0-9A-Z]{26}$/),
    panel: fc.constantFrom(...panels),
    file: fc.option(name, { nil: null }),
    scratch: fc.constant(null),
    preview: fc.option(
      fc.record({ port: fc.integer({ min: 1, max: 65_535 }), path: fc.webPath().map((path) => `/${path}`) }),
      { nil: null },
    ),
    lines: fc.option(
      fc
        .tuple(fc.integer({ min: 1, max: 9999 }), fc.nat(100))
        .map(([start, more]) => ({ start, end: start + more })),
      { nil: null },
    ),
    query: fc.string(),
    chat: fc.option(fc.stringMatching(/^chat_[0-9A-Z]{26}$/), { nil: null }),
  })
  fc.assert(
    fc.property(location, (each) => {
      expect(read(ideHref(each))).toEqual(each)
    }),
  )
})

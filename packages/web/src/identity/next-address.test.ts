import { expect, test } from 'vitest'
import { nextOf, withNext } from './next-address.ts'

const after = (next: string) => nextOf(`?next=${encodeURIComponent(next)}`)

test('[PAGE2] after sign-in one comes back to where one was, and never to another site', () => {
  expect(after('/w/ws_1/files?file=a.ts#L3')).toBe('/w/ws_1/files?file=a.ts#L3')
  expect(nextOf('')).toBe('/')
  for (const evil of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/a\\b',
  ]) {
    expect(after(evil)).toBe('/')
  }
  expect(nextOf(withNext('/sign-up', '?next=%2Fsettings').slice('/sign-up'.length))).toBe('/settings')
})

import { expect, it } from 'vitest'
import { attachment, safeMediaType } from './safe-media-type.ts'

it.each([
  ['a/logo.PNG', 'image/png'],
  ['a.html', 'application/octet-stream'],
  ['a.svg', 'application/octet-stream'],
  ['a.xhtml', 'application/octet-stream'],
  ['a.js', 'application/octet-stream'],
  ['a.pdf', 'application/octet-stream'],
  ['png', 'application/octet-stream'],
  ['.png', 'application/octet-stream'],
  ['a.constructor', 'application/octet-stream'],
])('[FILE14] %s is sent as %s', (path, type) => {
  expect(safeMediaType(path)).toBe(type)
})

it('[FILE14] a name cannot break out of its header', () => {
  expect(attachment('x/a"; b\r\nc: d.txt')).toBe(
    `attachment; filename="a_; b__c: d.txt"; filename*=UTF-8''a%22%3B%20b%0D%0Ac%3A%20d.txt`,
  )
  expect(attachment("größe (1)'.txt")).toBe(
    `attachment; filename="gr__e (1)'.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%281%29%27.txt`,
  )
})

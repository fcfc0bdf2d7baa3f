import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { readCredentials } from './credentials.ts'
import { createSessionCookie } from './session-cookie.ts'

const cookie = createSessionCookie({ secret: 'a secret of at least 32 characters', secure: false })

function read(...rawHeaders: string[]) {
  // Of a request, only the raw headers are looked at.
  return readCredentials({ rawHeaders } as unknown as IncomingMessage, cookie)
}

const jwt = 'aaa.bbb.ccc'

describe('credentials of a request', () => {
  it('[AUTH40] a request without any has none', () => {
    expect(read('Host', 'localhost', 'Cookie', 'theme=dark')).toEqual([])
  })

  it('[AUTH40] each kind is found, in any letter case of its header', () => {
    expect(read('AUTHORIZATION', `bearer ${jwt}`)).toEqual([{ kind: 'token', text: jwt }])
    expect(read('X-Api-Key', 'atl_x')).toEqual([{ kind: 'api-key', text: 'atl_x' }])
    expect(read('cookie', 'a=b; atelier.session=v')).toEqual([{ kind: 'cookie', text: 'v' }])
  })

  it.each([
    ['no token', 'Bearer'],
    ['an empty token', 'Bearer '],
    ['two tokens', `Bearer ${jwt} ${jwt}`],
    ['two spaces', `Bearer  ${jwt}`],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a token alone', jwt],
    ['a raw session token', 'Bearer UcDto4hZSxeQ0JB8JuwhQXmlNLhh7bew'],
    ['an API key', 'Bearer atl_0123456789AB_abcdefghijklmnopqrstuvwxyz012345000000'],
    ['characters outside ASCII', 'Bearer \u00e9.\u00e9.\u00e9'],
    ['five parts', 'Bearer a.b.c.d.e'],
    ['64 KB', `Bearer ${'a'.repeat(65_536)}.b.c`],
    ['64 KB of dots', `Bearer ${'.'.repeat(65_536)}`],
    ['nothing', ''],
  ])('[AUTH41] Authorization with %s is refused', (_what, value) => {
    expect(() => read('Authorization', value)).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED' }))
  })

  it.each([
    ['Authorization', `Bearer ${jwt}`],
    ['x-api-key', 'atl_x'],
    ['Cookie', 'atelier.session=v'],
  ])('[AUTH42] a repeated %s is refused, even with the same value', (name, value) => {
    expect(() => read(name, value, 'Accept', '*/*', name.toUpperCase(), value)).toThrow(
      expect.objectContaining({ code: 'UNAUTHORIZED' }),
    )
  })

  it('[AUTH42] two session cookies in one header are refused', () => {
    expect(() => read('Cookie', 'atelier.session=a; atelier.session=b')).toThrow(
      expect.objectContaining({ code: 'UNAUTHORIZED' }),
    )
  })
})

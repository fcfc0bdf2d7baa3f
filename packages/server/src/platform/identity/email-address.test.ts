import { signUp } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import { normaliseEmail } from './email-address.ts'

const accepts = (email: string) =>
  signUp.body.safeParse({ name: 'Ada', email, password: 'long enough to pass' }).success

describe('e-mail addresses', () => {
  it('[AUTH3] letter case does not make another address', () => {
    expect(normaliseEmail('Ada.Lovelace@Example.COM')).toBe('ada.lovelace@example.com')
  })

  it('[AUTH3] look-alike characters, composed or not, never reach the account table', () => {
    const lookalikes = [
      'ada\uFF20example.com', // fullwidth @
      'ada\uFE6Bexample.com', // small @
      'ada@ex\u0430mple.com', // Cyrillic a
      '\u212Aate@example.com', // Kelvin sign, which lower-cases to k
      'jose\u0301@example.com', // e with a combining accent
      'jos\u00E9@example.com', // the same, composed
      'ada@example.com\u200B', // zero-width space
      'ada@example\u3002com', // ideographic full stop
      'ada\u0000@example.com',
    ]
    expect(lookalikes.filter(accepts)).toEqual([])
    expect(accepts('ada@example.com')).toBe(true)
  })
})

import { serializeSignedCookie } from 'better-call'
import { describe, expect, it } from 'vitest'
import { createSessionCookie } from './session-cookie.ts'

const secret = 'a secret of at least 32 characters'
const cookie = createSessionCookie({ secret, secure: false })

/** What the sign-in library writes into `Set-Cookie`. */
async function written(token: string, by = secret): Promise<string> {
  const header = await serializeSignedCookie(cookie.name, token, by)
  return header.slice(cookie.name.length + 1)
}

describe('the session cookie', () => {
  it('[AUTH10] has the __Host- prefix exactly where it is sent over TLS only', () => {
    expect(cookie.name).toBe('atelier.session')
    expect(createSessionCookie({ secret, secure: true }).name).toBe('__Host-atelier.session')
  })

  it('[AUTH15] a value is read only with the signature of this installation', async () => {
    const value = await written('token')
    expect(cookie.tokenOf(value)).toBe('token')
    expect(cookie.tokenOf(await written('token', 'another secret of 32 characters!!'))).toBeNull()
    expect(cookie.tokenOf('token')).toBeNull()
    expect(cookie.tokenOf('token.')).toBeNull()
    expect(cookie.tokenOf('')).toBeNull()
    expect(cookie.tokenOf('%E0%A4%A')).toBeNull()
  })

  it('[AUTH15] no change of one character, at the end neither, leaves a value valid', async () => {
    const value = decodeURIComponent(await written('token'))
    const variants = [`${value}=`, `${value} `, `${value}A`, value.slice(0, -1)]
    for (let index = 0; index < value.length; index += 1) {
      const other = value[index] === 'A' ? 'B' : 'A'
      variants.push(value.slice(0, index) + other + value.slice(index + 1))
    }
    expect(variants.filter((variant) => cookie.tokenOf(encodeURIComponent(variant)) !== null)).toEqual([])
  })

  it('[AUTH42] every value under the name is seen, whatever stands around it', () => {
    expect(cookie.valuesIn('a=1; atelier.session=x;atelier.session=y; atelier.session2=z')).toEqual([
      'x',
      'y',
    ])
    expect(cookie.valuesIn('theme=dark')).toEqual([])
  })
})

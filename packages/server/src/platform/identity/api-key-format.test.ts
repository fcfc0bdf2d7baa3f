import { describe, expect, it } from 'vitest'
import { apiKeyPrefix, generateApiKey, readApiKey, sameHash } from './api-key-format.ts'

/** Made once; the checksum was computed with another implementation of CRC-32 (Python's zlib). */
const known = 'atl_0123456789AB_abcdefghijklmnopqrstuvwxyz012345'

describe('API keys', () => {
  it('[AUTH30] a new key has the published form and reads back as itself', () => {
    const key = generateApiKey()
    expect(key.text).toMatch(/^atl_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
    expect(key.text.startsWith(`${apiKeyPrefix(key.publicId)}_`)).toBe(true)
    const read = readApiKey(key.text)
    expect(read?.publicId).toBe(key.publicId)
    expect(sameHash(read?.hash ?? Buffer.alloc(0), key.hash)).toBe(true)
  })

  it('[AUTH30] the checksum is the CRC-32 of what is before it, in six digits of base 62', () => {
    expect(readApiKey(`${known}1APkcC`)?.publicId).toBe('0123456789AB')
  })

  it('[AUTH31] no key is read after any one character changes, is dropped or added', () => {
    const { text } = generateApiKey()
    const variants = [
      text.slice(0, -1),
      `${text}A`,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      text.toLowerCase(),
    ]
    for (let index = 0; index < text.length; index += 1) {
      const other = text[index] === 'x' ? 'y' : 'x'
      variants.push(text.slice(0, index) + other + text.slice(index + 1))
      variants.push(text.slice(0, index) + text.slice(index + 1))
    }
    expect(variants.filter((variant) => readApiKey(variant) !== null)).toEqual([])
  })

  it('[AUTH30] keys differ, and so do their hashes', () => {
    const keys = Array.from({ length: 200 }, generateApiKey)
    expect(new Set(keys.map(({ text }) => text)).size).toBe(200)
    expect(new Set(keys.map(({ publicId }) => publicId)).size).toBe(200)
    expect(new Set(keys.map(({ hash }) => hash.toString('hex'))).size).toBe(200)
  })
})

import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** `atl_<12 base62 id>_<32 base62 secret><6 base62 CRC-32 of all before it>`. */
const pattern = /^(atl_([0-9A-Za-z]{12})_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const publicIdLength = 12
/** 32 x log2(62) = 190 bits: beyond guessing, so a fast hash is enough to store it. */
const secretLength = 32
const checksumLength = 6

export interface NewApiKey {
  /** the whole key; shown once, never stored */
  text: string
  publicId: string
  hash: Buffer
}

export function generateApiKey(): NewApiKey {
  const publicId = randomBase62(publicIdLength)
  const start = `${apiKeyPrefix(publicId)}_${randomBase62(secretLength)}`
  const text = start + checksumOf(start)
  return { text, publicId, hash: hashApiKey(text) }
}

/** The recognisable start of a key, never enough to use. */
export function apiKeyPrefix(publicId: string): string {
  return `atl_${publicId}`
}

/**
 * The public id within a key, or `null` when it has another form or its checksum is wrong: a mistyped or made-up key
 * then costs no look-up, and a leaked one is recognised without one.
 */
export function readApiKey(text: string): { publicId: string; hash: Buffer } | null {
  const [, start, publicId, checksum] = pattern.exec(text) ?? []
  if (start === undefined || publicId === undefined || checksumOf(start) !== checksum) return null
  return { publicId, hash: hashApiKey(text) }
}

/** Compares two SHA-256 hashes in a time that does not depend on where they differ. */
export function sameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

function hashApiKey(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** CRC-32 (IEEE 802.3) in base 62, padded with zeros: 62^6 > 2^32. */
function checksumOf(start: string): string {
  let rest = crc32(start)
  let digits = ''
  for (let position = 0; position < checksumLength; position += 1) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(62))).join('')
}

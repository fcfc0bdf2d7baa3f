/**
 * How many of the first `limit` bytes end with a whole UTF-8 character: 0 to 3 less than that. Terminal emulators lose
 * characters that are cut between two messages, so nothing here is ever cut inside one. Bytes that are not UTF-8 count
 * as whole.
 */
export function wholeCharacters(bytes: Uint8Array, limit: number = bytes.length): number {
  for (let back = 1; back <= 3 && back <= limit; back += 1) {
    const byte = bytes[limit - back] ?? 0
    if (byte < 0x80) return limit
    // A continuation byte: the start is further back.
    if (byte < 0xc0) continue
    return lengthOf(byte) > back ? limit - back : limit
  }
  return limit
}

/**
 * The character beyond ASCII that starts at `index` and how many bytes to go on by. No code: bytes that are no
 * character, which emulators skip, as they do with a byte order mark.
 */
export function characterAt(bytes: Uint8Array, index: number): { size: number; code: number | undefined } {
  const length = lengthOf(bytes[index] ?? 0)
  let code = (bytes[index] ?? 0) & (0xff >> (length + 1))
  for (let size = 1; size < length; size += 1) {
    const byte = bytes[index + size] ?? 0
    if ((byte & 0xc0) !== 0x80) return { size, code: undefined }
    code = (code << 6) | (byte & 0x3f)
  }
  return { size: length, code: isCharacter(code, length) ? code : undefined }
}

/** The least code that needs this many bytes. */
const least = [0, Number.POSITIVE_INFINITY, 0x80, 0x800, 0x10000]

function isCharacter(code: number, length: number): boolean {
  const surrogate = code >= 0xd800 && code <= 0xdfff
  return code >= (least[length] ?? 0) && code <= 0x10ffff && !surrogate && code !== 0xfeff
}

/** Bytes of the character that starts with this byte; 1 for one that starts none. */
function lengthOf(lead: number): number {
  if (lead < 0xc0 || lead >= 0xf8) return 1
  if (lead >= 0xf0) return 4
  return lead >= 0xe0 ? 3 : 2
}

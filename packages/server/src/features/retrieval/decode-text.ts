export type DecodedText = { kind: 'text'; text: string } | { kind: 'refused'; reason: 'binary' | 'not-utf8' }

/** Bytes looked at for NUL, as git and grep do. */
const binaryProbeBytes = 8_192

/**
 * Decodes a file: UTF-8 (a byte order mark is dropped), or UTF-16 when its byte order mark says so. Anything else is
 * refused rather than guessed: a guessed encoding would put wrong characters into citations.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const utf16 = utf16Label(bytes)
  if (utf16 !== null) return decodeAs(utf16, bytes)
  if (bytes.subarray(0, binaryProbeBytes).includes(0)) return { kind: 'refused', reason: 'binary' }
  return decodeAs('utf-8', bytes)
}

function utf16Label(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes.length % 2 !== 0) return null
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

function decodeAs(label: string, bytes: Uint8Array): DecodedText {
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes)
    // A NUL anywhere cannot be stored as text, and no source file has one.
    return text.includes('\0') ? { kind: 'refused', reason: 'binary' } : { kind: 'text', text }
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'refused', reason: 'not-utf8' }
    throw error
  }
}

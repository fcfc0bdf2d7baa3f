import { open } from 'node:fs/promises'
import { constants, gunzipSync } from 'node:zlib'

export const archiveFormats = ['zip', 'tar', 'tar.gz'] as const
export type ArchiveFormat = (typeof archiveFormats)[number]

/**
 * What the bytes say: a format we read, one that we know and do not read, a name that promises an archive over bytes
 * that are none, or an ordinary file. A name alone never makes an archive.
 */
export type Detection =
  | { kind: 'archive'; format: ArchiveFormat }
  | { kind: 'unsupported'; format: string }
  | { kind: 'broken' }
  | { kind: 'ordinary' }

/** One tar block, and enough of a gzip member to unpack one: a file name and an extra field may stand before the data. */
const probeBytes = 8_192
const tarBlockBytes = 512

/** Of the first entry, of the end of an empty archive, of one in parts. */
const zipSignatures = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08']

/** First bytes of formats, `latin1`. */
const signatures: readonly (readonly [bytes: string, format: string])[] = [
  ['7z\xbc\xaf\x27\x1c', '7-Zip'],
  ['Rar!\x1a\x07', 'RAR'],
  ['BZh', 'bzip2'],
  ['\xfd7zXZ\0', 'xz'],
  ['\x28\xb5\x2f\xfd', 'Zstandard'],
]

export async function detectArchive(path: string, name: string): Promise<Detection> {
  const head = await readHead(path)
  const text = head.toString('latin1')
  if (zipSignatures.some((bytes) => text.startsWith(bytes))) return { kind: 'archive', format: 'zip' }
  const foreign = signatures.find(([bytes]) => text.startsWith(bytes))
  if (foreign) return { kind: 'unsupported', format: foreign[1] }
  if (text.startsWith('\x1f\x8b')) return detectGzip(head)
  if (isTarHeader(head)) return { kind: 'archive', format: 'tar' }
  if (!/\.(zip|tar|tgz|tar\.gz)$/i.test(name)) return { kind: 'ordinary' }
  return isEndOfTar(head) ? { kind: 'archive', format: 'tar' } : { kind: 'broken' }
}

async function readHead(path: string): Promise<Buffer> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(probeBytes), 0, probeBytes, 0)
  return buffer.subarray(0, bytesRead)
}

function detectGzip(head: Buffer): Detection {
  try {
    const unpacked = gunzipSync(head, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: 16 * 1024 * 1024,
    })
    return isTarHeader(unpacked) || isEndOfTar(unpacked)
      ? { kind: 'archive', format: 'tar.gz' }
      : { kind: 'unsupported', format: 'gzip without tar' }
  } catch (error) {
    if (isZlibError(error)) return { kind: 'broken' }
    throw error
  }
}

function isZlibError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE'
}

/** A tar header has the sum of its bytes in octal at 148, taken with blanks there. */
function isTarHeader(bytes: Buffer): boolean {
  if (bytes.length < tarBlockBytes) return false
  const announced = Number.parseInt(bytes.toString('latin1', 148, 156).replace(/[\0 ]+$/, ''), 8)
  let sum = 0
  for (let at = 0; at < tarBlockBytes; at += 1) sum += at >= 148 && at < 156 ? 32 : (bytes[at] ?? 0)
  return sum === announced
}

/** A tar without an entry is blocks of zeros alone. */
function isEndOfTar(bytes: Buffer): boolean {
  return bytes.length >= tarBlockBytes && bytes.subarray(0, tarBlockBytes).every((byte) => byte === 0)
}

import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

/** One entry of a zip, with whatever a hostile or broken tool may have written. */
export interface ZipEntry {
  name: string | Uint8Array
  content?: string | Uint8Array
  /** Unix mode with file type, e.g. `0o120777` for a link */
  mode?: number
  /** general purpose flags; bit 0: encrypted */
  flags?: number
  /** 0 stored, 8 deflated, anything else unknown */
  method?: number
  /** what the central directory says instead of the truth */
  announced?: { bytes?: number; crc?: number; offset?: number; compressedBytes?: number }
}

/** Writes a zip byte by byte, so that it may be wrong in any way. */
export function zipOf(entries: readonly ZipEntry[], options: { entryCount?: number } = {}): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const content = Buffer.from(entry.content ?? '')
    const method = entry.method ?? 8
    const data = method === 8 ? deflateRawSync(content) : content
    const crc = entry.announced?.crc ?? crc32(content)
    const sizes = {
      compressed: entry.announced?.compressedBytes ?? data.length,
      plain: entry.announced?.bytes ?? content.length,
    }
    const common = zipHeader({ flags: entry.flags ?? 0x800, method, crc, sizes, nameLength: name.length })
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6)
    tail.writeUInt32LE(entry.announced?.offset ?? offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, name]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(options.entryCount ?? entries.length, 8)
  end.writeUInt16LE(options.entryCount ?? entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, central, end])
}

/** The 26 bytes that the local header and the central directory share: version to extra field length. */
function zipHeader(header: {
  flags: number
  method: number
  crc: number
  sizes: { compressed: number; plain: number }
  nameLength: number
}): Buffer {
  const bytes = Buffer.alloc(26)
  bytes.writeUInt16LE(20, 0)
  bytes.writeUInt16LE(header.flags, 2)
  bytes.writeUInt16LE(header.method, 4)
  bytes.writeUInt32LE(header.crc >>> 0, 10)
  bytes.writeUInt32LE(header.sizes.compressed, 14)
  bytes.writeUInt32LE(header.sizes.plain, 18)
  bytes.writeUInt16LE(header.nameLength, 22)
  return bytes
}

export type TarEntry = Partial<Header> & { name: string; content?: string | Uint8Array }

/** A tar of the entries as they are, links and odd names included. */
export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content, ...header } of entries) archive.entry(header, Buffer.from(content ?? ''))
  archive.finalize()
  return Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Buffer>))
}

export async function tarGzOf(entries: readonly TarEntry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries))
}

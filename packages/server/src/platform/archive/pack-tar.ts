import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Pack, pack } from 'tar-stream'
import type { SourceFile } from './import-source.ts'

/**
 * Packs files into a .tar.gz while it is read, one file in memory at a time; directories come first. Throws what
 * `files` throws. Packed lightly: it is for the next process, not for keeping.
 */
export async function* packTarGz(content: {
  files: AsyncIterable<SourceFile>
  directories: readonly string[]
}): AsyncGenerator<Uint8Array> {
  const archive = pack()
  const gzip = createGzip({ level: 1 })
  const piped = pipeline(archive, gzip)
  // Its failure ends the reading of `gzip` below, which is where it is reported.
  piped.catch(() => undefined)
  const filled = fill(archive, content)
  filled.catch((error: Error) => archive.destroy(error))
  try {
    for await (const chunk of gzip) if (Buffer.isBuffer(chunk)) yield chunk
    await filled
  } finally {
    archive.destroy()
    gzip.destroy()
  }
}

async function fill(
  archive: Pack,
  { files, directories }: { files: AsyncIterable<SourceFile>; directories: readonly string[] },
): Promise<void> {
  for (const name of directories) archive.entry({ name: `${name}/`, type: 'directory', mode: 0o755 })
  for await (const { path, bytes, executable = false } of files) {
    const mode = executable ? 0o755 : 0o644
    await pipeline(Readable.from([bytes]), archive.entry({ name: path, size: bytes.length, mode }))
  }
  archive.finalize()
}

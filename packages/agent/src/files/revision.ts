import { type BinaryLike, createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** Bytes read at a time; large enough that hashing, not reading, is the cost. */
const readSize = 256 * 1024

/** A file this young may change once more without its times changing, so its revision is not remembered. */
const settledMs = 2000n

const remembered = 20_000

export function revisionOf(content: BinaryLike): string {
  return createHash('sha256').update(content).digest('hex')
}

/** What tells one version of an open file from the next without reading it. */
export function versionOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`
}

export interface Revisions {
  /** SHA-256 of an open regular file, read from its start. `signal` ends the reading. */
  of(file: FileHandle, stats: BigIntStats, signal?: AbortSignal): Promise<string>
}

export function createRevisions(now: () => bigint = () => BigInt(Date.now())): Revisions {
  const known = new Map<string, string>()
  return {
    async of(file, stats, signal) {
      const version = versionOf(stats)
      const hit = known.get(version)
      if (hit !== undefined) return hit
      const settled = now() - stats.ctimeMs > settledMs
      const revision = await hashFile(file, signal)
      if (!settled) return revision
      if (known.size >= remembered) {
        const oldest = known.keys().next().value
        if (oldest !== undefined) known.delete(oldest)
      }
      known.set(version, revision)
      return revision
    },
  }
}

async function hashFile(file: FileHandle, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(readSize)
  let position = 0
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
    position += bytesRead
  }
}

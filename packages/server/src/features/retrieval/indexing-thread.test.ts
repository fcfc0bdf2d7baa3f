import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIndexingThread } from './indexing-thread.ts'

describe('the indexing thread', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'atelier-indexing-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  /** The real one, which dies of a text that says so. */
  async function mortalWorker(): Promise<URL> {
    const path = join(directory, 'worker.mjs')
    const real = new URL('./indexing-worker.ts', import.meta.url)
    await writeFile(
      path,
      `import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ text }) => { if (text.includes('die')) process.exit(9) })
await import('${real}')\n`,
    )
    return pathToFileURL(path)
  }

  it('[RAG8] a crash costs the file that caused it, and no other', async () => {
    await using thread = createIndexingThread({ worker: await mortalWorker() })
    const texts = ['const a = 1\n', '// die\n', 'const b = 2\n', '// die\n', 'const c = 3\n']
    const results = await Promise.allSettled(texts.map((text) => thread.index(text, 'typescript')))
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(results[1]).toMatchObject({ reason: { message: expect.stringContaining('ended with 9') } })
    expect(results[4]).toMatchObject({ value: { kind: 'indexed', chunks: [{ startLine: 1 }] } })
  })

  it('[RAG8] the caller is not held up while a text is cut', async () => {
    await using thread = createIndexingThread()
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await thread.index('export const value = [1, 2, 3]\n'.repeat(5_000), 'typescript')
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
  })
})

import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The id of a data directory, made at its first use and kept in it. Jobs that read files of a directory carry it, so
 * that only processes which have the directory run them.
 */
export async function loadNodeId(dataDirectory: string): Promise<string> {
  await mkdir(dataDirectory, { recursive: true })
  const path = join(dataDirectory, 'node-id')
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  // Linked into place whole: a crash leaves no half id, and of two processes one wins for both.
  const draft = `${path}.${randomUUID()}`
  try {
    await using file = await open(draft, 'wx', 0o600)
    await file.writeFile(`${randomUUID()}\n`)
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(path, 'utf8')).trim()
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

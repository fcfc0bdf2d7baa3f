import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Characters of a secret at least: 32 of base 64 are 192 bits. */
export const secretLength = 32

/**
 * The secret that signs cookies and encrypts signing keys: `configured`, else the one in the file `secret` of the data
 * directory, which is made (256 random bits, readable by its owner only) when it is missing. Throws when the file is
 * there but holds no secret: making a new one would sign everybody out and lose the signing keys without a word.
 */
export async function loadInstallationSecret(options: {
  configured: string | undefined
  dataDirectory: string
}): Promise<string> {
  if (options.configured !== undefined) return options.configured
  const path = join(options.dataDirectory, 'secret')
  const stored = (await readIfThere(path)) ?? (await create(options.dataDirectory, path))
  if (stored.length < secretLength) {
    throw new Error(`${path} is damaged; restore it, or delete it (everybody then has to sign in again)`)
  }
  return stored
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole beside its place and then linked, so that a crash leaves no half file and of two processes one wins. */
async function create(directory: string, path: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  return (await readFile(path, 'utf8')).trim()
}

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Migration, migrationsDigest } from './migrations.ts'

/** Days after which an unused template is removed: long enough that nobody is still copying it. */
const keepDays = 7
const millisecondsPerDay = 86_400_000

/**
 * The data directory of a closed cluster, to be copied: 0.5 s for a new database instead of 5 s. Named by what went into
 * it, built by `build` if it is not there yet. Several processes may ask at once; the first to finish wins, and all get
 * the same directory.
 */
export async function preparePgliteTemplate(options: {
  templateDirectory: string
  migrations: readonly Migration[]
  /** makes a closed cluster in the given directory, which does not exist yet, and returns where */
  build: (directory: string) => Promise<string>
}): Promise<string> {
  const { templateDirectory, migrations, build } = options
  await mkdir(templateDirectory, { recursive: true })
  const template = join(templateDirectory, `template-${await templateKey(migrations)}`)
  if (await exists(template)) {
    const now = new Date()
    await utimes(template, now, now)
    return template
  }
  await removeUnused(templateDirectory)
  const building = join(templateDirectory, `building-${randomUUID()}`)
  try {
    await rename(await build(building), template)
  } catch (error) {
    if (!(await exists(template))) throw error
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return template
}

async function templateKey(migrations: readonly Migration[]): Promise<string> {
  const versions = await Promise.all(['@electric-sql/pglite', '@electric-sql/pglite-pgvector'].map(versionOf))
  const content = [...versions, migrationsDigest(migrations)].join('\n')
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

async function versionOf(name: string): Promise<string> {
  const entry = createRequire(import.meta.url).resolve(name)
  const manifest = join(dirname(entry), '../package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  return `${name}@${version}`
}

/** Also removes what a killed build left. */
async function removeUnused(templateDirectory: string): Promise<void> {
  const oldest = Date.now() - keepDays * millisecondsPerDay
  for (const name of await readdir(templateDirectory)) {
    const path = join(templateDirectory, name)
    if (!/^(template|building)-/.test(name)) continue
    const modified = await stat(path).then(
      (status) => status.mtimeMs,
      () => undefined,
    )
    if (modified !== undefined && modified < oldest) await rm(path, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

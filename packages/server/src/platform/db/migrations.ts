import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Numbered SQL of this build. */
export const migrationsDirectory = join(import.meta.dirname, 'migrations')

export interface Migration {
  /** file name without `.sql`, e.g. `0001-foundation` */
  name: string
  sql: string
  /** SHA-256 of `sql`, hexadecimal */
  checksum: string
}

/** A statement of its own on a line; `begin` of a function body has no semicolon. */
const transactionControl = /^\s*(begin|commit|rollback|start transaction)\b[^;\n]*;/im

const fileName = /^\d{4}-[a-z0-9-]+\.sql$/

/**
 * The migrations of a folder in order. Throws when a file is misnamed, a number is used
 * twice, or a file controls transactions.
 */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  const misnamed = files.find((file) => !fileName.test(file))
  if (misnamed) throw new Error(`migration ${misnamed} must be named like 0001-what-it-does.sql`)
  const twice = files.find((file, index) => file.slice(0, 4) === files[index - 1]?.slice(0, 4))
  if (twice) throw new Error(`migration number ${twice.slice(0, 4)} is used twice`)
  return await Promise.all(files.map((file) => readMigration(directory, file)))
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  // Git may check text out with CRLF; that is the same migration.
  const sql = (await readFile(join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
  if (transactionControl.test(sql)) {
    throw new Error(`migration ${file} must not control transactions: it runs inside one`)
  }
  return { name: file.slice(0, -'.sql'.length), sql, checksum: sha256(sql) }
}

/** Changes whenever any migration does: names what a template was built from. */
export function migrationsDigest(migrations: readonly Migration[]): string {
  return sha256(migrations.map(({ name, checksum }) => `${name} ${checksum}`).join('\n'))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

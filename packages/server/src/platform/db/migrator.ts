import { type Kysely, sql, type Transaction } from 'kysely'
import { sqlState, sqlStateOf } from './database-errors.ts'
import type { DatabaseLogger } from './database-logger.ts'
import type { Migration } from './migrations.ts'
import type { Tables } from './tables.ts'

/** The schema is not one that this build can run on; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

/** Longest run of one migration's statement, in milliseconds: an index over a large table takes minutes. */
export const migrationBudgetMilliseconds = 600_000

/** Any constant does, as long as every node of every version uses it: the bytes of "atelier". */
const advisoryLock = 0x6174656c696572n

/**
 * Brings the schema up to the last migration, each in a transaction of its own. Safe to run twice, from several
 * processes at once, and to be killed at any moment. Throws MigrationError when the database has migrations that this
 * build has not, or had them with another content or in another order, and when a migration fails.
 */
export async function migrate(options: {
  connection: Kysely<Tables>
  migrations: readonly Migration[]
  logger: DatabaseLogger
}): Promise<void> {
  const { connection, migrations, logger } = options
  await createHistory(connection)
  const applied = await appliedMigrations(connection)
  assertCompatible(migrations, applied)
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue
    const start = performance.now()
    if (await apply(connection, migration)) {
      logger.info({ migration: migration.name, ms: Math.round(performance.now() - start) }, 'migrated')
    }
  }
}

/** Whether the database has exactly these migrations. False, not an error, on a database without any. */
export async function migrationsCurrent(
  kysely: Kysely<Tables>,
  migrations: readonly Migration[],
): Promise<boolean> {
  try {
    const applied = await appliedMigrations(kysely)
    return (
      applied.size === migrations.length &&
      migrations.every(({ name, checksum }) => applied.get(name) === checksum)
    )
  } catch (error) {
    if (sqlStateOf(error) === sqlState.undefinedTable) return false
    throw error
  }
}

async function createHistory(connection: Kysely<Tables>): Promise<void> {
  await connection.transaction().execute(async (transaction) => {
    // Without the lock, two nodes that start on an empty database collide in the catalogue.
    await lock(transaction)
    await sql`create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`.execute(transaction)
  })
}

async function appliedMigrations(connection: Kysely<Tables>): Promise<Map<string, string>> {
  const rows = await connection.selectFrom('schema_migrations').select(['name', 'checksum']).execute()
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

function assertCompatible(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = [...applied.keys()].filter((name) => !known.has(name)).sort()
  if (unknown.length > 0) {
    throw new MigrationError(
      `The database was migrated by a newer version, which has ${unknown.join(', ')}. Run that version, or a newer one.`,
    )
  }
  for (const { name, checksum } of migrations) {
    if (applied.has(name) && applied.get(name) !== checksum) {
      throw new MigrationError(
        `Migration ${name} has changed since this database ran it. An applied migration must not change: restore the file, and put the change into a new one.`,
      )
    }
  }
  const last = [...applied.keys()].sort().at(-1)
  const skipped = migrations.find(({ name }) => last !== undefined && name < last && !applied.has(name))
  if (skipped) {
    throw new MigrationError(
      `Migration ${skipped.name} comes before ${last}, which this database already has. Give it the next free number.`,
    )
  }
}

/** False when another process has applied it meanwhile. */
async function apply(connection: Kysely<Tables>, migration: Migration): Promise<boolean> {
  const { name, checksum } = migration
  try {
    return await connection.transaction().execute(async (transaction) => {
      await lock(transaction)
      // The row comes first: whoever inserts it runs the migration, whatever became of the lock.
      const inserted = await transaction
        .insertInto('schema_migrations')
        .values({ name, checksum })
        .onConflict((conflict) => conflict.doNothing())
        .returning('name')
        .execute()
      if (inserted.length === 0) return false
      await sql.raw(migration.sql).execute(transaction)
      return true
    })
  } catch (error) {
    throw new MigrationError(`Migration ${name} failed; the database is as it was before it.`, {
      cause: error,
    })
  }
}

async function lock(transaction: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLock.toString()}::bigint)`.execute(transaction)
}

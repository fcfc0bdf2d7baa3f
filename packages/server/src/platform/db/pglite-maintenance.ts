import { type Kysely, sql } from 'kysely'
import type { DatabaseLogger } from './database-logger.ts'
import type { Tables } from './tables.ts'

const intervalMilliseconds = 600_000
/** A large table with vector indexes takes minutes. */
const statementBudgetMilliseconds = 600_000

/**
 * What autovacuum does on a server: the embedded engine has no background processes, so without this deleted rows would
 * take space for good and the planner would never learn how large a table is. Disposing waits for a run in progress.
 */
export function startPgliteMaintenance(options: {
  withStatementTimeout: <T>(
    milliseconds: number,
    work: (connection: Kysely<Tables>) => Promise<T>,
  ) => Promise<T>
  logger: DatabaseLogger
}): AsyncDisposable {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= options
      .withStatementTimeout(statementBudgetMilliseconds, vacuumChangedTables)
      .catch((error: unknown) => options.logger.warn({ err: error }, 'vacuuming failed'))
      .finally(() => {
        running = undefined
      })
  }, intervalMilliseconds)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}

/** Vacuums and analyses each table of which as much has changed as makes autovacuum's defaults act. */
export async function vacuumChangedTables(connection: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ table: string }>`
    select s.relid::regclass::text as "table"
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
      or s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
    order by s.relid`.execute(connection)
  // One statement a table. The name is quoted where it must be: `regclass` sees to it.
  for (const { table } of rows) await sql`vacuum (analyze) ${sql.raw(table)}`.execute(connection)
}

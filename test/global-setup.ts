import { ensurePgliteTemplate } from '../packages/server/src/platform/db/index.ts'
import {
  ensurePostgresTemplate,
  missingVariable,
  templateDirectory,
  urlVariable,
} from '../packages/testkit/src/database.ts'
import { startPostgresServer } from '../packages/testkit/src/postgres-server.ts'

/**
 * Before any test: a private PostgreSQL where this machine has one, and the migrated databases that tests are cloned
 * from. Returns what stops it all. With `ATELIER_TEST_DATABASE_URL` set, that server is used instead.
 */
export async function setup(): Promise<() => Promise<void>> {
  await using started = new AsyncDisposableStack()
  // Both run to their end, so that a failure of one leaves nothing of the other behind.
  const failed = (
    await Promise.allSettled([ensurePgliteTemplate({ templateDirectory }), preparePostgres(started)])
  ).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  const owned = started.move()
  return () => owned.disposeAsync()
}

async function preparePostgres(started: AsyncDisposableStack): Promise<void> {
  if (!process.env[urlVariable] && !process.env[missingVariable]) {
    const server = await startPostgresServer()
    if ('unavailable' in server) {
      process.env[missingVariable] = server.unavailable
      console.warn(`PostgreSQL is not tested: ${server.unavailable}`)
      return
    }
    started.use(server)
    process.env[urlVariable] = server.url
    started.defer(() => {
      delete process.env[urlVariable]
    })
  }
  const url = process.env[urlVariable]
  if (url) await ensurePostgresTemplate(url)
}

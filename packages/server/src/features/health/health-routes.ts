import { getHealth, getHealthSimple, getLiveness, getReadiness, type HealthStatus } from '@atelier/contract'
import type { z } from 'zod'
import { AppError } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'

/** How long the database may take to answer a probe, in milliseconds. */
const databaseBudgetMilliseconds = 1_000

/** What the probes ask of the database. */
export interface DatabaseHealth {
  /** Rejects if the database does not answer in time. */
  ping(timeoutMilliseconds: number): Promise<void>
  migrationsCurrent(): Promise<boolean>
}

export function healthFeature(dependencies: { http: HttpServer; database: DatabaseHealth }): void {
  const { http, database } = dependencies
  mount(http, getHealthSimple, () => ({ status: 'healthy' as const }))
  mount(http, getLiveness, () => ({ status: 'healthy' as const, uptime: process.uptime() }))
  mount(http, getHealth, () => health({ database, schema: false }))
  mount(http, getReadiness, () => health({ database, schema: true }))
}

async function health(options: {
  database: DatabaseHealth
  schema: boolean
}): Promise<z.infer<typeof HealthStatus>> {
  const uptime = process.uptime()
  try {
    await options.database.ping(databaseBudgetMilliseconds)
  } catch (cause) {
    throw unhealthy('The database does not answer', 'disconnected', cause)
  }
  if (options.schema && !(await options.database.migrationsCurrent())) {
    throw unhealthy('The database schema is not current', 'connected')
  }
  return { status: 'healthy', database: 'connected', uptime }
}

function unhealthy(message: string, database: 'connected' | 'disconnected', cause?: unknown): AppError {
  const details = { status: 'unhealthy', database, uptime: process.uptime() }
  return new AppError('SERVICE_UNAVAILABLE', message, { details, cause })
}

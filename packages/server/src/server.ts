import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import pino, { type Logger } from 'pino'
import { createApp } from './app.ts'
import { type Clock, systemClock } from './base/clock.ts'
import type { Config } from './platform/config/config.ts'

/** Pieces that a test replaces. */
export interface ServerOverrides {
  logger?: Logger
  clock?: Clock
  /** check every answer against the contract */
  validateAnswers?: boolean
}

export interface RunningServer extends AsyncDisposable {
  /** where it listens, e.g. `http://127.0.0.1:3000` */
  readonly url: string
  /** what a person wants to know at start, one fact a line */
  summary(): Promise<readonly string[]>
}

/** Opens everything, listens, and answers when ready. Disposing finishes what is in flight and closes all of it. */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const logger = overrides.logger ?? pino({ level: config.logLevel })
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 })
  await using stack = new AsyncDisposableStack()
  const app = stack.use(
    await createApp(config, {
      logger,
      clock: overrides.clock ?? systemClock,
      validateAnswers: overrides.validateAnswers ?? false,
    }),
  )
  await app.http.app.listen({ port: config.port, host: config.host })
  const owned = stack.move()
  return {
    url: urlOf(config.host, app.http.app.server.address() as AddressInfo),
    summary: app.summary,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function urlOf(host: string, { port }: AddressInfo): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

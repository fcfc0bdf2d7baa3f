import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type ServerOverrides, startServer } from '@atelier/server'
import { provideCluster } from '@atelier/server/database'
import { templateDirectory } from './database.ts'

export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly dataDirectory: string
}

/**
 * Boots the whole platform in this process on a free loopback port with a data directory of its own.
 * `environment` is what a person would set; nothing is taken from this process's environment.
 * Rates are lifted unless set, since a test file makes more requests in a minute than a person.
 */
export async function startTestServer(
  options: { environment?: Record<string, string>; overrides?: ServerOverrides } = {},
): Promise<TestServer> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-test-'))
  const config = loadConfig(
    {
      PORT: '0',
      ATELIER_DATA_DIR: dataDirectory,
      RATE_LIMIT_STANDARD: '100000',
      RATE_LIMIT_AI: '100000',
      RATE_LIMIT_UPLOAD: '100000',
      LOG_LEVEL: 'silent',
      ...options.environment,
    },
    dataDirectory,
  )
  await provideCluster({ dataDirectory: join(dataDirectory, 'database'), templateDirectory })
  const server = await startServer(config, { validateAnswers: true, ...options.overrides })
  return {
    url: server.url,
    dataDirectory,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}

import { join } from 'node:path'
import { ConfigError, loadConfig } from './platform/config/config.ts'
import { type RunningServer, startServer } from './server.ts'

/** The process edge: environment, signals, exit code. Nothing else reads `process.env`. */
const root = join(import.meta.dirname, '../../..')

let server: RunningServer
try {
  server = await startServer(loadConfig(readEnvironment(), root))
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : describe(error)}\n`)
  process.exit(1)
}

/** One Ctrl-C may reach us twice, from the terminal and through npm: signals closer than this are one, in milliseconds. */
const sameSignalMilliseconds = 1_000
let stoppingSince: number | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      stop()
    } else if (performance.now() - stoppingSince > sameSignalMilliseconds) {
      // A second signal means now.
      process.exit(130)
    }
  })
}

process.stdout.write(`\n  Atelier is ready: ${server.url}\n`)
for (const line of await server.summary()) process.stdout.write(`  ${line}\n`)
process.stdout.write('\n')

async function stop(): Promise<void> {
  try {
    await server[Symbol.asyncDispose]()
    process.exit(0)
  } catch (error) {
    process.stderr.write(`Stopping failed: ${describe(error)}\n`)
    process.exit(1)
  }
}

function readEnvironment(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile(join(root, '.env'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return process.env
}

/** The causes tell what a person can act on (which lock, which address); the stack does not. */
function describe(error: unknown): string {
  const lines: string[] = []
  for (let current = error; current instanceof Error && lines.length < 5; current = current.cause)
    lines.push(current.message)
  return lines.length === 0 ? String(error) : lines.join('\n  because: ')
}

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface ServerProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number | undefined
  /** Ends it as a crash would, and waits until it is gone. */
  kill(): Promise<void>
  /** Ends it as a person does, with SIGTERM unless told, and waits until it is gone; resolves to its exit code. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | null>
}

/** What `npm start` runs. */
export const main = join(import.meta.dirname, '../../packages/server/src/main.ts')

/** Starts the server as a person does, on a free port; resolves when it says that it is ready. */
export async function startServerProcess(environment: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [main], {
    // What a `.env` of the repository sets must not reach a test: empty counts as absent.
    env: { PATH: process.env.PATH, DATABASE_URL: '', LOG_LEVEL: 'error', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { promise: exited, resolve: exit } = Promise.withResolvers<number | null>()
  const { promise: ready, resolve: isReady, reject: isOver } = Promise.withResolvers<string>()
  child.once('close', (code: number | null) => {
    exit(code)
    isOver(new Error(`the server ended with code ${code} before it was ready`))
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [url] = /http:\/\/\S+/.exec(line) ?? []
    if (url !== undefined) isReady(url)
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return {
    url: await ready,
    pid: child.pid,
    stop: (signal = 'SIGTERM') => end(signal),
    kill: async () => void (await end('SIGKILL')),
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  }
}

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface ChildServer extends AsyncDisposable {
  readonly url: string
}

/** Starts a server in a process of its own; resolves when it prints its address. */
export async function startChild(
  args: string[],
  environment: Record<string, string> = {},
): Promise<ChildServer> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.once('close', (code) => reject(new Error(`the server ended with code ${code}`)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [url] = /http:\/\/\S+/.exec(line) ?? []
    if (url !== undefined) resolve(url)
  })
  return {
    url: await promise,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

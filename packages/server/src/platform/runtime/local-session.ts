import { type ChildProcess, spawn } from 'node:child_process'
import { Duplex, Writable } from 'node:stream'
import type { Session } from './driven-runtime.ts'
import type { SessionUsage } from './session-runtime.ts'

/** Last words kept of a program that fails to start. */
const keptStderr = 4096

/** Descriptor of the stream in every program started here. */
export const streamDescriptor = 3

export interface LocalSessionOptions {
  file: string
  args: string[]
  environment: Record<string, string>
  cwd: string
  /** bytes the program reads from descriptors 4, 5, … */
  inputs: Uint8Array[]
  usage(): SessionUsage | null
  /** what must be done when the program has ended, before the session counts as ended */
  cleanUp(): Promise<void>
}

/** Starts a program on this machine that speaks over descriptor 3, one end of a socket pair. */
export function startLocalSession(
  options: LocalSessionOptions,
): Session & { readonly pid: number | undefined } {
  const child = spawn(options.file, options.args, {
    cwd: options.cwd,
    env: options.environment,
    // A session of its own: the server's terminal, if it has one, is not the program's.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...options.inputs.map(() => 'pipe' as const)],
  })
  const stream = streamOf(child)
  for (const [index, bytes] of options.inputs.entries()) give(child, streamDescriptor + 1 + index, bytes)
  const lastWords = collect(child)
  return {
    stream,
    pid: child.pid,
    ended: endOf(child, lastWords).then(async (reason) => {
      await options.cleanUp()
      return reason
    }),
    kill: () => void child.kill('SIGKILL'),
    usage: options.usage,
  }
}

function streamOf(child: ChildProcess): Duplex {
  const stream = child.stdio[streamDescriptor]
  if (!(stream instanceof Duplex)) throw new TypeError('descriptor 3 is not a stream')
  return stream
}

/** A program that ends before it has read its input is heard of through its exit. */
function give(child: ChildProcess, descriptor: number, bytes: Uint8Array): void {
  const input: unknown = child.stdio[descriptor]
  if (!(input instanceof Writable)) throw new TypeError(`descriptor ${descriptor} is not a stream`)
  input.on('error', () => undefined)
  input.end(bytes)
}

function collect(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-keptStderr)
  })
  return () => text.trim()
}

function endOf(child: ChildProcess, lastWords: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`))
    child.once('close', (exitCode, signal) => {
      const how = signal === null ? `it ended with code ${exitCode}` : `it was ended by ${signal}`
      resolve(lastWords() === '' ? how : `${how}: ${lastWords()}`)
    })
  })
}

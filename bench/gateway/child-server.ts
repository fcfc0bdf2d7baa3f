import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'

export interface ChildServer extends AsyncDisposable {
  readonly url: string
  /** resident memory in bytes */
  memory(): Promise<number>
  /** the most that it was, in bytes */
  peakMemory(): Promise<number>
  /** processor time so far, in seconds: it tells the cost of a request also on a busy machine */
  cpuSeconds(): Promise<number>
}

/** Longest time to the line with the address, in milliseconds. */
const startMilliseconds = 60_000

/** Starts a server in a process of its own and waits until it prints its address. */
export async function startChild(
  script: string,
  options: {
    arguments?: string[]
    environment?: Record<string, string>
    nodeOptions?: string[]
    /** of a server that does not print it; it is waited for */
    address?: string
  } = {},
): Promise<ChildServer> {
  const child = spawn(
    process.execPath,
    [...(options.nodeOptions ?? []), script, ...(options.arguments ?? [])],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH ?? '', ...options.environment },
    },
  )
  const url = options.address === undefined ? await addressOf(child) : await answering(child, options.address)
  return {
    url,
    memory: () => statusOf(child.pid ?? 0, 'VmRSS'),
    peakMemory: () => statusOf(child.pid ?? 0, 'VmHWM'),
    cpuSeconds: () => processorTime(child.pid ?? 0),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the child has no output')
  const timer = setTimeout(() => child.kill('SIGKILL'), startMilliseconds)
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const address = /http:\/\/[\w.:]+/.exec(line)?.[0]
      if (address === undefined) continue
      // What follows must be read, or the child would wait for it.
      child.stdout.resume()
      return address
    }
  } finally {
    clearTimeout(timer)
  }
  throw new Error('the server ended before it printed its address')
}

async function answering(child: ChildProcess, address: string): Promise<string> {
  child.stdout?.resume()
  for (const deadline = performance.now() + startMilliseconds; performance.now() < deadline; ) {
    const answered = await fetch(address).catch(() => null)
    if (answered !== null) {
      await answered.body?.cancel()
      return address
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the server does not answer')
}

async function statusOf(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024
}

/** User and system time are fields 14 and 15 of `stat`, in ticks of 10 ms. */
async function processorTime(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

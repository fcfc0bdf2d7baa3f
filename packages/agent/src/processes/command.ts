import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { outputChannels } from '@atelier/contract/agent-processes'
import type { AgentResult } from '@atelier/contract/agent-protocol'
import type { Call } from '../call.ts'
import { errnoOf, Fault } from '../fault.ts'
import { openDirectory } from '../files/directory-handle.ts'
import type { Workspace } from '../files/workspace.ts'
import { drained } from './drained.ts'
import { offerToOutOfMemory, signalGroup } from './process-table.ts'
import type { ProcessExit } from './pseudo-terminal.ts'

/** A command that has ended may have left a job that holds its output open; it is awaited this long. */
const lingerMs = 500

export interface CommandDeps {
  workspace: Workspace
  environment: Record<string, string>
  /** running commands by the number of their call */
  running: Map<number, { pid: number; name: string; startedAt: number }>
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Runs one command in a process group of its own, which is killed at its end whatever that was. */
export async function runCommand(
  deps: CommandDeps,
  call: Call<'command.run'>,
): Promise<AgentResult<'command.run'>> {
  const startedAt = Date.now()
  const child = start(deps, call)
  const pid = await spawned(child)
  offerToOutOfMemory(pid)
  deps.running.set(call.id, { pid, name: call.params.command[0]?.slice(0, 200) ?? '', startedAt })
  let stopped: 'timeout' | 'output-limit' | null = null
  const stop = (reason: typeof stopped) => {
    stopped ??= reason
    signalGroup(pid, 'SIGKILL')
  }
  const timer = setTimeout(() => stop('timeout'), call.params.timeoutMs)
  const cancel = () => stop(null)
  call.signal.addEventListener('abort', cancel, { once: true })
  if (call.signal.aborted) cancel()
  try {
    const exit = exitOf(child)
    await call.emit({ kind: 'started', pid })
    void feed(child.stdin, call.body)
    const outputBytes = await forwardOutput(child, call, { exit, onLimit: () => stop('output-limit') })
    call.signal.throwIfAborted()
    return { ...(await exit), stopped, outputBytes, durationMs: Date.now() - startedAt }
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', cancel)
    deps.running.delete(call.id)
    stop(stopped)
  }
}

function start({ workspace, environment }: CommandDeps, { params }: Call<'command.run'>): Child {
  const [file = '', ...args] = params.command
  using directory = openDirectory(workspace.root, params.cwd)
  const env = { ...environment, PWD: join(workspace.rootPath, params.cwd), ...params.env }
  // `detached`: leader of a new session and so of a group that can be killed whole.
  return spawn(file, args, { cwd: directory.at(), env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
}

function spawned(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0))
    child.once('error', (cause) => {
      const errno = errnoOf(cause)
      const code =
        errno === 'ENOENT'
          ? 'NOT_FOUND'
          : errno === 'EACCES'
            ? 'PERMISSION'
            : errno === 'EAGAIN'
              ? 'BUSY'
              : 'INVALID'
      reject(new Fault(code, `the command cannot be started: ${errno}`, { cause }))
    })
  })
}

function exitOf(child: Child): Promise<ProcessExit> {
  return new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })))
}

async function feed(stdin: Writable, body: AsyncIterable<Uint8Array>): Promise<void> {
  // A command that does not read its input is no fault of anybody's.
  stdin.on('error', () => stdin.destroy())
  try {
    for await (const bytes of body) {
      if (stdin.destroyed) continue
      if (!stdin.write(bytes)) await drained(stdin)
    }
    stdin.end()
  } catch {
    stdin.destroy()
  }
}

/** Sends both channels until both have ended, or a little after the command has; returns the bytes that came. */
async function forwardOutput(
  child: Child,
  call: Call<'command.run'>,
  { exit, onLimit }: { exit: Promise<ProcessExit>; onLimit: () => void },
): Promise<number> {
  let total = 0
  const forward = async (stream: Readable, channel: number) => {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue
      const allowed = Math.max(0, call.params.maxOutputBytes - total)
      total += chunk.length
      if (allowed > 0) await call.send(chunk.subarray(0, allowed), channel)
      if (chunk.length > allowed) onLimit()
    }
  }
  const linger = exit.then(() => setTimeout(() => destroyQuietly(child), lingerMs).unref())
  try {
    await Promise.all([
      forward(child.stdout, outputChannels.stdout).catch(rethrowUnlessClosed),
      forward(child.stderr, outputChannels.stderr).catch(rethrowUnlessClosed),
    ])
    return total
  } finally {
    void linger.then(clearTimeout)
  }
}

function destroyQuietly(child: Child): void {
  child.stdout.destroy()
  child.stderr.destroy()
}

/** Destroying a stream that is being read ends the reading with this error. */
function rethrowUnlessClosed(error: unknown): void {
  if (errnoOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}

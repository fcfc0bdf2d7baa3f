import { join } from 'node:path'
import type { AgentResult } from '@atelier/contract/agent-protocol'
import type { Call } from '../call.ts'
import { Fault } from '../fault.ts'
import { openDirectory } from '../files/directory-handle.ts'
import type { Workspace } from '../files/workspace.ts'
import { loginShell } from './environment.ts'
import type { NativePty } from './native-pty.ts'
import { offerToOutOfMemory, readProcess, signalGroup } from './process-table.ts'
import { openPseudoTerminal, type PseudoTerminal } from './pseudo-terminal.ts'

/** What is left of a closed terminal gets this long to leave by itself. */
const hangUpMs = 2000

export interface TerminalDeps {
  workspace: Workspace
  native: NativePty
  environment: Record<string, string>
  /** open terminals by the number of their call */
  open: Map<number, { pid: number }>
}

/** Runs one terminal to its end: the result comes after the last byte of output. */
export async function runTerminal(
  deps: TerminalDeps,
  call: Call<'terminal.open'>,
): Promise<AgentResult<'terminal.open'>> {
  const terminal = start(deps, call)
  offerToOutOfMemory(terminal.pid)
  deps.open.set(call.id, { pid: terminal.pid })
  const hangUp = () => void end(terminal)
  call.signal.addEventListener('abort', hangUp, { once: true })
  call.onControl((control) => {
    if (control.kind === 'resize') terminal.resize(control.cols, control.rows)
    else signalGroup(readProcess(terminal.pid)?.foregroundGroup ?? terminal.pid, control.signal)
  })
  try {
    await call.emit({ kind: 'started', pid: terminal.pid })
    void feed(terminal, call.body)
    for (let bytes = await terminal.read(); bytes !== null; bytes = await terminal.read())
      await call.send(bytes)
    call.signal.throwIfAborted()
    // Whoever closes its terminal and goes on has left it; it does not keep the call open.
    const exit = await Promise.race([terminal.exited, delay(hangUpMs)])
    return exit ?? { exitCode: null, signal: null }
  } finally {
    call.signal.removeEventListener('abort', hangUp)
    deps.open.delete(call.id)
    await end(terminal)
  }
}

function start(
  { workspace, native, environment }: TerminalDeps,
  { params }: Call<'terminal.open'>,
): PseudoTerminal {
  const env: Record<string, string> = {
    ...environment,
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    PWD: join(workspace.rootPath, params.cwd),
    ...params.env,
  }
  const [file = loginShell(env), ...args] = params.command ?? []
  using directory = openDirectory(workspace.root, params.cwd)
  try {
    return openPseudoTerminal(native, {
      file,
      args,
      env,
      cwd: directory.at(),
      cols: params.cols,
      rows: params.rows,
    })
  } catch (cause) {
    throw new Fault('BUSY', 'no terminal can be opened: the limit of processes or terminals is reached', {
      cause,
    })
  }
}

async function feed(terminal: PseudoTerminal, body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const bytes of body) await terminal.write(bytes)
  } catch {
    // The call has ended, and with it what is typed.
  }
}

/** Hangs up; who ignores that is killed. The session's groups are those that had the terminal. */
async function end(terminal: PseudoTerminal): Promise<void> {
  const status = readProcess(terminal.pid)
  terminal.close()
  if (status === undefined) return
  signalGroup(status.foregroundGroup, 'SIGHUP')
  signalGroup(terminal.pid, 'SIGHUP')
  await Promise.race([terminal.exited, delay(hangUpMs)])
  signalGroup(status.foregroundGroup, 'SIGKILL')
  signalGroup(terminal.pid, 'SIGKILL')
}

function delay(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds).unref()
  })
}

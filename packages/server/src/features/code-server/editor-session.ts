import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/app-error.ts'
import type { AgentCall } from '../../platform/runtime/agent-call.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { dialAgent } from '../../platform/runtime/dial-agent.ts'
import { insidePaths } from '../../platform/runtime/sandbox-arguments.ts'

/** Of the agent's protocol: a session that is used for longer is started again. */
const longestMilliseconds = 24 * 3_600_000

/** How long a start may take on a busy machine; usual is one second. */
const startMilliseconds = 60_000

const retryMilliseconds = 100

/** What it prints in a day of use is far less; more ends it. */
const maxOutputBytes = 256 * 1024 * 1024

/** Characters of its output that are kept, for the reason of a failed start. */
const maxLastWords = 2_000

/** Its settings and extensions: beside the agent's own state, outside the project. */
const dataDirectory = `${insidePaths.state}/code-server`

/** code-server as it runs in one sandbox. */
export interface EditorProcess {
  readonly agent: AgentClient
  readonly socketPath: string
  /** resolves when it has ended, with the reason; never rejects */
  readonly ended: Promise<string>
  stop(): void
}

/**
 * Starts code-server on a UNIX socket in the sandbox and waits until it answers. `name` must be new each time. Throws
 * SERVICE_UNAVAILABLE with its last words where it does not come up.
 */
export async function startEditorProcess(agent: AgentClient, name: string): Promise<EditorProcess> {
  const socketPath = `/tmp/${name}.sock`
  const call = agent.open('command.run', {
    command: commandLine(socketPath),
    env: environment,
    timeoutMs: longestMilliseconds,
    maxOutputBytes,
  })
  call.end()
  const { ended, lastWords } = follow(call)
  const up = await Promise.race([answers(agent, socketPath), ended.then(() => false)])
  if (up) return { agent, socketPath, ended, stop: () => call.cancel() }
  call.cancel()
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    `code-server does not start: ${lastWords() || 'it does not answer'}`,
  )
}

function commandLine(socketPath: string): string[] {
  return [
    ...[insidePaths.node, `${insidePaths.codeServer}/node_modules/code-server/out/node/entry.js`],
    // Who gets here has been let in by us, and nobody else reaches the socket.
    ...['--auth', 'none', '--socket', socketPath, '--socket-mode', '600'],
    ...['--user-data-dir', `${dataDirectory}/data`, '--extensions-dir', `${dataDirectory}/extensions`],
    ...['--config', `${dataDirectory}/config.yaml`],
    ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', '--disable-proxy'],
    ...['--disable-getting-started-override', '--app-name', 'Atelier', insidePaths.root],
  ]
}

/** The libraries it brings take the place of none. */
const environment: Record<string, string> = { VSCODE_CLI_QUIET: '1' }

function follow(call: AgentCall<'command.run'>): { ended: Promise<string>; lastWords(): string } {
  let words = ''
  const read = async () => {
    for await (const message of call.messages) {
      if (message.kind === 'data')
        words = (words + Buffer.from(message.bytes).toString('utf8')).slice(-maxLastWords)
    }
    const { exitCode, signal, stopped } = await call.result
    return `code-server ended with ${stopped ?? signal ?? `code ${exitCode}`}`
  }
  const ended = read().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
  return { ended, lastWords: () => words.trim() }
}

async function answers(agent: AgentClient, path: string): Promise<boolean> {
  const deadline = performance.now() + startMilliseconds
  while (performance.now() < deadline) {
    try {
      const connection = await dialAgent(agent, { kind: 'unix', path })
      connection.destroy()
      return true
    } catch {
      // Nobody listens yet; whoever waits learns of an end by `ended`.
      await sleep(retryMilliseconds)
    }
  }
  return false
}

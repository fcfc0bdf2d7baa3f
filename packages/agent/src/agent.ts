import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type AgentHello, agentProtocolVersion } from '@atelier/contract/agent-protocol'
import { serveConnection } from './connection.ts'
import { findRipgrep } from './files/grep.ts'
import { openWorkspace } from './files/workspace.ts'
import { createOperations } from './operations.ts'
import { openEgressBridge } from './processes/egress-bridge.ts'
import { userEnvironment } from './processes/environment.ts'
import { loadNativePty } from './processes/native-pty.ts'
import { loadNativeWatcher } from './watching/native-watcher.ts'
import { createWatchHub } from './watching/watch-hub.ts'

export const agentVersion = '0.1.0'

export interface AgentOptions {
  input: Readable
  output: Writable
  /** absolute path of the workspace's root */
  rootPath: string
  /** absolute path of the agent's own directory, on the same file system */
  statePath: string
  epoch: bigint
  /** UNIX socket of the egress proxy */
  egressPath?: string | undefined
  /** absolute path of the program, whose directory holds the native parts */
  program: string
  environment: NodeJS.ProcessEnv
}

/** Runs the agent on one stream until it ends. Throws FENCED if a newer agent owns the workspace. */
export async function runAgent(options: AgentOptions): Promise<{ breach: string | null }> {
  using workspace = await openWorkspace(options)
  await using bridge = await openEgressBridge(options.egressPath)
  const native = attempt(() => loadNativePty(dirname(options.program)))
  const watcher = attempt(() => loadNativeWatcher(dirname(options.program)))
  const ripgrep = findRipgrep(options.environment.PATH)
  const answer = createOperations({
    workspace,
    environment: userEnvironment(options.environment, bridge?.port),
    watchHub: createWatchHub({ workspace, native: watcher }),
    native,
    ripgrep,
    program: options.program,
  })
  const hello: AgentHello = {
    t: 'hello',
    versions: [agentProtocolVersion],
    agent: {
      version: agentVersion,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      epoch: String(options.epoch),
      root: options.rootPath,
    },
    features: {
      ripgrep: ripgrep !== undefined,
      terminals: availability(native),
      watcher: availability(watcher),
      egress: bridge !== undefined,
    },
    recovered: workspace.recovered,
  }
  return await serveConnection({ input: options.input, output: options.output, hello, answer })
}

/** The value, or the reason there is none: a missing native part takes away one feature, not the workspace. */
function attempt<Value>(load: () => Value): Value | string {
  try {
    return load()
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : 'unknown failure'
  }
}

function availability(loaded: unknown): { available: boolean; reason: string | null } {
  return typeof loaded === 'string' ? { available: false, reason: loaded } : { available: true, reason: null }
}

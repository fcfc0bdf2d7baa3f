import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, duplexPair } from 'node:stream'
import { runAgent } from '../../../packages/agent/src/agent.ts'
import { type AgentClient, connectAgent } from '../../../packages/server/src/platform/runtime/agent-client.ts'
import { builtAgent } from './agent-program.ts'

export interface AgentPair extends AsyncDisposable {
  readonly agent: AgentClient
  /** the workspace's root, to look at from outside */
  readonly root: string
  readonly state: string
  /** how the agent's side ended */
  readonly ended: Promise<{ breach: string | null }>
}

export interface AgentPairOptions {
  /** a directory with `workspace` and `state`; a fresh one that is removed at the end where absent */
  home?: string
  epoch?: bigint
  path?: string
}

/** An agent in this process and a client, joined by a stream in memory. */
export async function startAgentPair(options: AgentPairOptions = {}): Promise<AgentPair> {
  const { home, stream, ended } = startAgent(options)
  const agent = await connectAgent({ stream })
  return {
    agent,
    root: join(home, 'workspace'),
    state: join(home, 'state'),
    ended,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      await ended
      if (options.home === undefined) rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Only the agent, and the raw stream to it. */
export function startAgent(options: AgentPairOptions = {}): {
  home: string
  stream: Duplex
  ended: Promise<{ breach: string | null }>
} {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'atelier-agent-'))
  const [stream, other] = duplexPair()
  const environment = { PATH: options.path ?? process.env.PATH, HOME: home, SHELL: '/bin/bash', PS1: '$ ' }
  const ended = runAgent({
    input: other,
    output: other,
    rootPath: join(home, 'workspace'),
    statePath: join(home, 'state'),
    epoch: options.epoch ?? 1n,
    program: join(builtAgent().directory, 'agent.mjs'),
    environment,
  })
  // Whoever does not wait for it hears of a failure through the stream.
  stream.on('error', () => undefined)
  ended.catch((error: Error) => stream.destroy(error))
  return { home, stream, ended }
}

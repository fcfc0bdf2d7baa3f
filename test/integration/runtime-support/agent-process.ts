import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { type AgentClient, connectAgent } from '../../../packages/server/src/platform/runtime/agent-client.ts'
import { builtAgent } from './agent-program.ts'

export interface AgentProcess {
  readonly agent: AgentClient
  readonly pid: number
  /** SIGKILL; resolves when it is gone */
  kill(): Promise<void>
}

/** The agent as a process of its own, outside of any sandbox, so that it can be killed at any moment. */
export async function startAgentProcess(home: string): Promise<AgentProcess> {
  const { directory, node } = builtAgent()
  const args = [
    join(directory, 'agent.mjs'),
    '--fd',
    '3',
    '--root',
    join(home, 'workspace'),
    '--state',
    join(home, 'state'),
  ]
  const child = spawn(node, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: { PATH: '/usr/bin:/bin', HOME: home },
  })
  const exited = once(child, 'exit')
  const stream = child.stdio[3]
  if (!(stream instanceof Duplex) || child.pid === undefined) throw new Error('the agent did not start')
  const agent = await connectAgent({ stream })
  return {
    agent,
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

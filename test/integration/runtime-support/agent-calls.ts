import type { AgentResult } from '@atelier/contract/agent-protocol'
import type { AgentCall } from '../../../packages/server/src/platform/runtime/agent-call.ts'
import type { AgentClient } from '../../../packages/server/src/platform/runtime/agent-client.ts'

export const bytes = (text: string) => new TextEncoder().encode(text)

/** Writes a whole file, whatever was there. */
export function put(agent: AgentClient, path: string, content: string) {
  return agent.call('files.write', { path, base: { kind: 'any' } }, { body: bytes(content) })
}

export async function readText(agent: AgentClient, path: string): Promise<string> {
  const call = agent.open('files.read', { path })
  const text = (await collect(call)).toString('utf8')
  await call.result
  return text
}

/** All bytes of a call, its channels mixed. */
export async function collect(
  call: AgentCall<'files.read' | 'files.export' | 'terminal.open' | 'dial'>,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const message of call.messages) if (message.kind === 'data') parts.push(message.bytes)
  return Buffer.concat(parts)
}

export interface ShellAnswer extends AgentResult<'command.run'> {
  stdout: string
  stderr: string
}

/** Runs a script in the workspace to its end. */
export async function shell(
  agent: AgentClient,
  script: string,
  options: { input?: string; timeoutMs?: number; interpreter?: string[] } = {},
): Promise<ShellAnswer> {
  const command = [...(options.interpreter ?? ['/bin/bash', '-c']), script]
  const call = agent.open('command.run', { command, timeoutMs: options.timeoutMs ?? 20_000 })
  if (options.input !== undefined) await call.write(bytes(options.input))
  call.end()
  const parts: [Uint8Array[], Uint8Array[]] = [[], []]
  for await (const message of call.messages) {
    if (message.kind === 'data') parts[message.channel === 2 ? 1 : 0].push(message.bytes)
  }
  const [stdout, stderr] = parts.map((each) => Buffer.concat(each).toString('utf8'))
  return { ...(await call.result), stdout: stdout ?? '', stderr: stderr ?? '' }
}

import type { AgentResult } from '@atelier/contract/agent-protocol'
import { programName, readProcess } from './process-table.ts'

type Activity = AgentResult<'agent.activity'>

/** What runs in the foreground of each terminal, null at a shell's prompt. */
export function terminalActivity(open: Map<number, { pid: number }>): Activity['terminals'] {
  return [...open].map(([call, { pid }]) => ({ call, pid, foreground: foregroundOf(pid) }))
}

function foregroundOf(pid: number): { pid: number; name: string } | null {
  const leader = readProcess(pid)
  if (leader === undefined || leader.foregroundGroup <= 0 || leader.foregroundGroup === leader.group)
    return null
  return { pid: leader.foregroundGroup, name: programName(leader.foregroundGroup).slice(0, 200) }
}

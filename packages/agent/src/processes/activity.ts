import { basename } from 'node:path'
import type { AgentResult } from '@atelier/contract/agent-protocol'
import { programName, readArguments, readProcess } from './process-table.ts'

type Activity = AgentResult<'agent.activity'>

/** What runs in the foreground of each terminal, null at a shell's prompt. */
export function terminalActivity(open: Map<number, { pid: number }>): Activity['terminals'] {
  return [...open].map(([call, { pid }]) => ({ call, pid, foreground: foregroundOf(pid) }))
}

function foregroundOf(pid: number): { pid: number; name: string } | null {
  const leader = readProcess(pid)
  if (leader === undefined || leader.foregroundGroup <= 0) return null
  if (leader.foregroundGroup === leader.group && isInteractiveShell(pid)) return null
  return { pid: leader.foregroundGroup, name: programName(leader.foregroundGroup).slice(0, 200) }
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh'])

/** A shell that reads from its terminal, not one that carries out a script; a login shell's name begins with `-`. */
function isInteractiveShell(pid: number): boolean {
  const [program = '', ...options] = readArguments(pid)
  return (
    shells.has(basename(program).replace(/^-/, '')) &&
    options.every((option) => option.startsWith('-') && !/^-[a-z]*c/.test(option))
  )
}

import type { Terminal } from '@atelier/contract'

/** Numbers that terminals without a title are called by; a number stays with its terminal. */
export type TerminalNumbers = Readonly<Record<string, number>>

/** Numbers for these terminals: what they had, the lowest free ones for new ones, nothing for those that are gone. */
export function numberTerminals(known: TerminalNumbers, ids: readonly string[]): TerminalNumbers {
  const numbers: Record<string, number> = {}
  for (const id of ids) if (known[id] !== undefined) numbers[id] = known[id]
  for (const id of ids) numbers[id] ??= lowestFree(new Set(Object.values(numbers)))
  return numbers
}

function lowestFree(taken: ReadonlySet<number>): number {
  let number = 1
  while (taken.has(number)) number += 1
  return number
}

/** What the program calls itself, else the command, else a number. */
export function terminalName({ id, title, command }: Terminal, numbers: TerminalNumbers): string {
  if (title !== '') return title
  return command?.[0]?.split('/').at(-1) || `Terminal ${numbers[id] ?? ''}`.trimEnd()
}

/** How it ended, in words; null while it runs. */
export function exitWords({ exit }: Pick<Terminal, 'exit'>): string | null {
  if (exit === null) return null
  if (exit.reason !== null) return `Ended: ${exit.reason}`
  if (exit.signal !== null) return `Ended by ${exit.signal}`
  return `Exited with code ${exit.exitCode ?? 'unknown'}`
}

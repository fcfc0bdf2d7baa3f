import { readdirSync, readFileSync } from 'node:fs'

/** What the host runs as a user, dead ones that nobody has yet asked about left out. */
export function processesOf(user: number): { processes: number; threads: number } {
  const found = { processes: 0, threads: 0 }
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const status = readQuietly(`/proc/${pid}/status`)
    const [, uid] = /^Uid:\s+(\d+)/m.exec(status) ?? []
    if (Number(uid) !== user || uid === undefined || /^State:\s+Z/m.test(status)) continue
    found.processes += 1
    found.threads += Number(/^Threads:\s+(\d+)/m.exec(status)?.[1] ?? 1)
  }
  return found
}

/** Processes of a user that run the program with this path, as they see it. */
export function pidsOf(user: number, program: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => new RegExp(`^Uid:\\s+${user}\\b`, 'm').test(readQuietly(`/proc/${pid}/status`)))
    .filter((pid) => readQuietly(`/proc/${pid}/cmdline`).startsWith(`${program}\0`))
    .map(Number)
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

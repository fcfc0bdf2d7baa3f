import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DatabaseOptions } from '@atelier/server/database'

export interface DatabaseChild {
  readonly pid: number
  /** every line so far */
  readonly lines: string[]
  /** Resolves when a line begins like this; rejects when the process ends without. */
  said(beginning: string): Promise<string>
  /** Ends it as a crash would, and waits until it is gone. */
  kill(): Promise<void>
  readonly exited: Promise<void>
}

/** Runs `database-child.ts`. */
export function startDatabaseChild(
  task: 'open' | 'hold' | 'insert',
  options: Omit<DatabaseOptions, 'logger'>,
): DatabaseChild {
  const script = join(import.meta.dirname, 'database-child.ts')
  const child = spawn(process.execPath, [script, task, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let over = false
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => {
      over = true
      for (const check of waiting) check()
      resolve()
    })
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const check of waiting) check()
  })
  return {
    pid: child.pid ?? 0,
    lines,
    exited,
    said: (beginning) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const line = lines.find((candidate) => candidate.startsWith(beginning))
          if (line === undefined && !over) return
          waiting.delete(check)
          if (line !== undefined) resolve(line)
          else reject(new Error(`the child ended without saying ${beginning}: ${lines.join(' | ')}`))
        }
        waiting.add(check)
        check()
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

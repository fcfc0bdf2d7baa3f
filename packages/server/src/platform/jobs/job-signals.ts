import type { JobRow } from './job-store.ts'

/** What happens to jobs in this process, told at once; other nodes are noticed by polling. */
export interface JobSignals {
  publish(row: JobRow): void
  /** Calls `listener` at each change of the job until the returned function is called. */
  subscribe(jobId: string, listener: (row: JobRow) => void): () => void
}

export function createJobSignals(): JobSignals {
  const listeners = new Map<string, Set<(row: JobRow) => void>>()
  return {
    publish(row) {
      for (const listener of listeners.get(row.id) ?? []) listener(row)
    },
    subscribe(jobId, listener) {
      const known = listeners.get(jobId) ?? new Set()
      listeners.set(jobId, known.add(listener))
      return () => {
        known.delete(listener)
        if (known.size === 0 && listeners.get(jobId) === known) listeners.delete(jobId)
      }
    },
  }
}

import { z } from 'zod'
import { JobId, WorkspaceId } from './ids.ts'

export const JobState = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])
export type JobState = z.infer<typeof JobState>

/** Long work with visible progress: rows in the database, so that a restart continues it. */
export const Job = z.object({
  id: JobId,
  workspaceId: WorkspaceId,
  kind: z.enum(['import', 'reembed']),
  state: JobState,
  progress: z.object({
    phase: z.string().describe('what it is doing, in words'),
    done: z.number().int().nonnegative(),
    total: z.number().int().nonnegative().nullable().describe('null: not known yet'),
    unit: z.enum(['files', 'chunks']),
  }),
  report: z.record(z.string(), z.unknown()).nullable().describe('the result of a job that has ended well'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  finishedAt: z.iso.datetime().nullable(),
})
export type Job = z.infer<typeof Job>

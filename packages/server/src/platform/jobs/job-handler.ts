import type { Job } from '@atelier/contract'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'

export type JobKind = Job['kind']

/** What a person sees of a running job. Parts that are left out stay as they are. */
export interface JobProgress {
  /** what it is doing, in words */
  phase?: string
  done?: number
  total?: number | null
}

/** What a handler gets for one attempt. */
export interface JobRun {
  jobId: string
  /** the job's workspace, acted in by the server itself */
  scope: WorkspaceScope
  /** what was asked; the handler checks it, since a row may be older than the code */
  input: unknown
  /** 1 for the first; more when an earlier one was cut off */
  attempt: number
  /**
   * Aborts when the job was cancelled, its lease was lost, or the server stops. A handler then throws `signal.reason`
   * soon; what it has stored stays, and another attempt must be able to start over without harm.
   */
  signal: AbortSignal
  /** Cheap: written to the database at most a few times a second. */
  progress(progress: JobProgress): void
}

/** The work of one kind of job. */
export interface JobHandler {
  kind: JobKind
  unit: Job['progress']['unit']
  /**
   * Resolves to the job's report. An AppError fails the job with its code and message, except SERVICE_UNAVAILABLE and
   * TIMEOUT, which are tried again; anything else fails it as INTERNAL_ERROR.
   */
  run(run: JobRun): Promise<Record<string, unknown>>
  /** Frees what the job held, after it has ended on this node in whatever way. */
  ended?(job: { jobId: string; workspaceId: string }): Promise<void>
}

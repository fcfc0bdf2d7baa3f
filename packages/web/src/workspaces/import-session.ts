import { ApiError, type Client } from '@atelier/client'
import {
  cancelWorkspaceJob,
  importIntoWorkspace,
  type Job,
  listWorkspaceJobs,
  maxImportBytes,
  watchWorkspaceJob,
} from '@atelier/contract'
import { formatBytes } from '../lib/format.ts'
import { createStore, type Store } from '../lib/store.ts'
import type { Picked } from './picked-files.ts'

/** Where an import stands. */
export type ImportState =
  | { state: 'idle' }
  | { state: 'reading'; files: number }
  | { state: 'uploading'; files: number; sentBytes: number; totalBytes: number }
  | { state: 'working'; job: Job }
  | { state: 'ended'; job: Job; leftOut: string[] }
  | { state: 'failed'; error: unknown }

/** One workspace's import, from the drop to its report. At most one runs at a time. */
export interface ImportSession {
  readonly store: Store<ImportState>
  /** Reads with `read`, sends, and follows the job to its end. `stripRoot` drops the one folder around everything. */
  start(read: (onProgress: (files: number) => void) => Promise<Picked>, stripRoot: boolean): Promise<void>
  /** Follows a job that was begun elsewhere to its end. */
  follow(job: Job): Promise<void>
  /** Follows a job that was under way before the page was loaded. */
  resume(): Promise<void>
  cancel(): Promise<void>
  /** Puts a report or an error away. */
  dismiss(): void
}

export interface ImportSessionDeps {
  client: Client
  workspaceId: string
  /** told when files may have changed */
  onChanged: () => void
  wait: (milliseconds: number) => Promise<void>
}

/** Attempts to follow a job again after the connection broke, and the wait between two of them. */
const mostReconnects = 60
const reconnectMs = 2_000

export function createImportSession(deps: ImportSessionDeps): ImportSession {
  const { client, workspaceId } = deps
  const store = createStore<ImportState>({ state: 'idle' })
  let upload: AbortController | null = null

  async function send(picked: Picked, stripRoot: boolean): Promise<Job> {
    const controller = new AbortController()
    upload = controller
    const files = picked.files.length
    store.set({ state: 'uploading', files, sentBytes: 0, totalBytes: picked.bytes })
    const { job } = await client.call(
      importIntoWorkspace,
      { params: { workspaceId }, form: formOf(picked, stripRoot) },
      {
        signal: controller.signal,
        onUploadProgress: ({ sentBytes, totalBytes }) =>
          store.set({ state: 'uploading', files, sentBytes, totalBytes: totalBytes ?? picked.bytes }),
      },
    )
    return job
  }

  async function follow(job: Job, leftOut: string[]): Promise<void> {
    store.set({ state: 'working', job })
    let last = job
    for (let attempt = 0; !isEnded(last) && attempt <= mostReconnects; attempt += 1) {
      if (attempt > 0) await deps.wait(reconnectMs)
      try {
        const { events } = await client.stream(watchWorkspaceJob, { params: { workspaceId, jobId: job.id } })
        for await (const { event } of events) {
          last = event
          store.set({ state: 'working', job: last })
        }
      } catch (error) {
        if (!isPassing(error) || attempt === mostReconnects) throw error
      }
    }
    deps.onChanged()
    store.set({ state: 'ended', job: last, leftOut })
  }

  /** Runs an import to its end; what goes wrong becomes its state. */
  async function guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      store.set(upload?.signal.aborted === true ? { state: 'idle' } : { state: 'failed', error })
    } finally {
      upload = null
    }
  }

  return {
    store,
    async start(read, stripRoot) {
      if (isBusy(store.get())) return
      store.set({ state: 'reading', files: 0 })
      await guarded(async () => {
        const picked = await read((files) => store.set({ state: 'reading', files }))
        assertSendable(picked)
        const job = await send(picked, stripRoot)
        await follow(job, picked.leftOut)
      })
    },
    follow: (job) => guarded(() => follow(job, [])),
    async resume() {
      if (store.get().state !== 'idle') return
      const { items } = await client.call(listWorkspaceJobs, { params: { workspaceId }, query: { limit: 5 } })
      const job = items.find((each) => each.kind === 'import' && !isEnded(each))
      if (job === undefined || store.get().state !== 'idle') return
      await guarded(() => follow(job, []))
    },
    async cancel() {
      const current = store.get()
      if (current.state === 'uploading') upload?.abort()
      if (current.state !== 'working') return
      await client.call(cancelWorkspaceJob, { params: { workspaceId, jobId: current.job.id } })
    },
    dismiss: () => store.set((current) => (isBusy(current) ? current : { state: 'idle' })),
  }
}

export function isBusy({ state }: ImportState): boolean {
  return state === 'reading' || state === 'uploading' || state === 'working'
}

export function isEnded(job: Job): boolean {
  return job.state === 'succeeded' || job.state === 'failed' || job.state === 'cancelled'
}

/** Throws for what the server would refuse anyway, before minutes go into sending it. */
function assertSendable(picked: Picked): void {
  if (picked.files.length === 0) throw new ImportError('There was no file in what you gave')
  if (picked.bytes > maxImportBytes) {
    throw new ImportError(
      `It holds ${formatBytes(picked.bytes)}; one import takes ${formatBytes(maxImportBytes)}. Give a part of it, or an archive.`,
    )
  }
}

/** A fault in what was given, told in words for the person who gave it. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

function formOf(picked: Picked, stripRoot: boolean): FormData {
  const form = new FormData()
  form.append('stripRoot', String(stripRoot))
  for (const { path, file } of picked.files) form.append('files', file, path)
  return form
}

function isPassing(error: unknown): boolean {
  return (
    error instanceof ApiError && ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED'].includes(error.code)
  )
}

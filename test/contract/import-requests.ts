import { type ApiError, type Client, createClient } from '@atelier/client'
import { createWorkspace, importIntoWorkspace, type Job, watchWorkspaceJob } from '@atelier/contract'
import type { Person } from '@atelier/testkit'
import { expect } from 'vitest'

/** A person at work in one workspace of their own. */
export interface Workplace {
  api: Client
  workspaceId: string
  /** Sends parts named `files`; resolves to the job as accepted. */
  send(parts: readonly Part[], fields?: Record<string, string>): Promise<Job>
  /** As `send`; resolves to the job as it ended. */
  import(parts: readonly Part[], fields?: Record<string, string>): Promise<Job>
  /** Every state of a job that its event stream shows. */
  watch(jobId: string): Promise<Job[]>
}

export type Part = readonly [name: string, content: string | Uint8Array]

export async function openWorkplace(url: string, person: Person): Promise<Workplace> {
  const api = createClient({ baseUrl: url, headers: person.headers, validateAnswers: true })
  const { id: workspaceId } = await api.call(createWorkspace, { body: { name: 'Imports' } })
  const params = { workspaceId }

  async function watch(jobId: string): Promise<Job[]> {
    const { events } = await api.stream(watchWorkspaceJob, { params: { workspaceId, jobId } })
    return (await Array.fromAsync(events)).map(({ event }) => event)
  }

  async function send(parts: readonly Part[], fields: Record<string, string> = {}): Promise<Job> {
    return (await api.call(importIntoWorkspace, { params, form: formOf(parts, fields) })).job
  }

  return {
    api,
    workspaceId,
    send,
    watch,
    async import(parts, fields) {
      const ended = (await watch((await send(parts, fields)).id)).at(-1)
      return ended ?? expect.unreachable('the stream of a job was empty')
    },
  }
}

export function formOf(parts: readonly Part[], fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [name, content] of parts) form.append('files', new File([Buffer.from(content)], name))
  return form
}

/** The error of a refused call: code, field and message. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; field: unknown; message: string }> {
  const error = await call.then(
    () => expect.unreachable('the call succeeded'),
    (failure: ApiError) => failure,
  )
  return { code: error.code, field: error.details?.field, message: error.message }
}

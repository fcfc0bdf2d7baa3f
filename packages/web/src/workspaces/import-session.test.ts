import { createClient } from '@atelier/client'
import type { Job } from '@atelier/contract'
import { describe, expect, test } from 'vitest'
import { createImportSession, ImportError, type ImportState } from './import-session.ts'
import type { Picked } from './picked-files.ts'

const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'

function job(state: Job['state'], done: number): Job {
  return {
    id: 'job_01JD8XQ4ZK3V5N6P7R8S9T0ABC',
    workspaceId,
    kind: 'import',
    state,
    progress: { phase: 'Indexing', done, total: 2, unit: 'files' },
    report: null,
    error: null,
    createdAt: '2026-01-01T00:00:00Z',
    startedAt: null,
    finishedAt: null,
  }
}

const picked: Picked = {
  files: [{ path: 'app/a.ts', file: new File(['let a'], 'a.ts') }],
  bytes: 5,
  leftOut: ['app/.git'],
}
const envelope = (data: unknown) =>
  Response.json({
    success: true,
    data,
    message: 'm',
    timestamp: '2026-01-01T00:00:00Z',
    requestId: 'req_12345678',
  })
const events = (...jobs: Job[]) =>
  new Response(jobs.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })

type Answer = (method: string, path: string, body: unknown) => Response

function sessionOf(answer: Answer) {
  const seen: ImportState[] = []
  let changed = 0
  const session = createImportSession({
    client: createClient({
      baseUrl: '',
      fetch: async (input, init) =>
        answer(init?.method ?? 'GET', String(input).replace(/^.*\/ws_\w+/, ''), init?.body),
    }),
    workspaceId,
    onChanged: () => {
      changed += 1
    },
    wait: async () => undefined,
  })
  session.store.subscribe(() => seen.push(session.store.get()))
  return { session, seen, changes: () => changed }
}

describe('an import', () => {
  test('[PAGE4] is read, sent, followed and reported; the tree is read anew', async () => {
    let sent: FormData | undefined
    const { session, seen, changes } = sessionOf((method, _path, body) => {
      if (method !== 'POST') return events(job('running', 1), job('succeeded', 2))
      sent = body as FormData
      return envelope({ job: job('queued', 0) })
    })
    await session.start(async (onProgress) => {
      onProgress(1)
      return picked
    }, true)
    expect(seen.map(({ state }) => state)).toEqual([
      'reading',
      'reading',
      'uploading',
      'working',
      'working',
      'working',
      'ended',
    ])
    expect(session.store.get()).toMatchObject({ job: { state: 'succeeded' }, leftOut: ['app/.git'] })
    expect(
      [...(sent ?? new FormData())].map(([name, value]) => [
        name,
        value instanceof File ? value.name : value,
      ]),
    ).toEqual([
      ['stripRoot', 'true'],
      ['files', 'app/a.ts'],
    ])
    expect(changes()).toBe(1)
  })

  test('[PAGE4] a lost connection is taken up again, and the job seen to its end', async () => {
    const answers = [
      events(job('running', 1)),
      new Response('', { status: 503 }),
      events(job('succeeded', 2)),
    ]
    answers[1] = Response.json(
      {
        success: false,
        error: { code: 'SERVICE_UNAVAILABLE', message: 'Starting' },
        timestamp: '2026-01-01T00:00:00Z',
        requestId: 'req_12345678',
      },
      { status: 503 },
    )
    const { session } = sessionOf((method) =>
      method === 'POST' ? envelope({ job: job('queued', 0) }) : (answers.shift() ?? new Response('')),
    )
    await session.start(async () => picked, false)
    expect(session.store.get()).toMatchObject({ state: 'ended', job: { state: 'succeeded' } })
  })

  test('[PAGE4] after a reload a job that is still under way is found again', async () => {
    const { session } = sessionOf((_method, path) =>
      path.endsWith('/events')
        ? events(job('succeeded', 2))
        : envelope({ items: [job('running', 1)], nextCursor: null }),
    )
    await session.resume()
    expect(session.store.get()).toMatchObject({ state: 'ended' })
  })

  test('[PAGE4] nothing, and too much, are refused in words before anything is sent', async () => {
    const requests: string[] = []
    const { session } = sessionOf((method) => {
      requests.push(method)
      return new Response('')
    })
    for (const wrong of [
      { ...picked, files: [] },
      { ...picked, bytes: 1024 ** 3 },
    ]) {
      await session.start(async () => wrong, true)
      const current = session.store.get()
      expect(current.state === 'failed' && current.error).toBeInstanceOf(ImportError)
      session.dismiss()
    }
    expect(requests).toEqual([])
    expect(session.store.get().state).toBe('idle')
  })

  test('[PAGE4] a refused import says why and can be put away', async () => {
    const { session } = sessionOf(() => new Response('no', { status: 413 }))
    await session.start(async () => picked, true)
    expect(session.store.get()).toMatchObject({ state: 'failed', error: { status: 413 } })
    session.dismiss()
    expect(session.store.get().state).toBe('idle')
  })
})

import type { Client } from '@atelier/client'
import type { DirectoryChange } from '@atelier/contract'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followDirectory } from './directory-changes.ts'

const workspaceId = 'ws_1'
const running = { all: false, watching: 'native', reason: null } as const
const stopped: DirectoryChange = { paths: [], all: true, watching: null, reason: null }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A page that shows the tree and one file, and a stream of changes that the test feeds. */
function openShown() {
  const queryClient = new QueryClient()
  const reads: string[] = []
  for (const key of [
    ['tree', ''],
    ['file', 'a.txt'],
  ]) {
    const queryKey = ['workspace', workspaceId, ...key]
    const queryFn = async () => {
      reads.push(key.join(' ').trim())
      return null
    }
    new QueryObserver(queryClient, { queryKey, queryFn }).subscribe(() => undefined)
  }
  const left = new AbortController()
  let send: (change: DirectoryChange) => void = () => undefined
  async function* events() {
    while (!left.signal.aborted)
      yield { event: await new Promise<DirectoryChange>((take) => (send = take)), lastEventId: '' }
  }
  const client = { stream: async () => ({ headers: new Headers(), events: events() }) } as unknown as Client
  void followDirectory({ client, queryClient, workspaceId, signal: left.signal })
  return {
    left,
    /** What was read while that many milliseconds passed after a change. */
    async after(change: DirectoryChange | null, milliseconds: number): Promise<string[]> {
      if (change !== null) send(change)
      await vi.advanceTimersByTimeAsync(milliseconds)
      return reads.splice(0)
    },
  }
}

test('[PAGE24] what changed is read again, the tree not more than every two seconds', async () => {
  const page = openShown()
  await page.after(null, 10)
  await page.after({ ...running, paths: [], all: true }, 2_500)
  expect(await page.after({ ...running, paths: ['b.txt'] }, 10)).toEqual(['tree'])
  expect(await page.after({ ...running, paths: ['a.txt'] }, 10)).toEqual(['file a.txt'])
  for (let change = 0; change < 5; change += 1) await page.after({ ...running, paths: ['b.txt'] }, 10)
  expect(await page.after({ ...running, paths: [], all: true }, 10)).toEqual([])
  expect(await page.after(null, 2_000)).toEqual(['tree', 'file a.txt'])
  page.left.abort()
})

test('[PAGE24] a workspace that stops is not read, not even for what changed just before; one that starts again is', async () => {
  const page = openShown()
  await page.after(null, 10)
  await page.after({ ...running, paths: [], all: true }, 2_500)
  await page.after({ ...running, paths: ['b.txt'] }, 10)
  expect(await page.after({ ...running, paths: ['c.txt'] }, 10)).toEqual([])
  expect(await page.after(stopped, 60_000)).toEqual([])
  expect(await page.after({ ...running, paths: [], all: true }, 2_500)).toEqual(['tree', 'file a.txt'])
  page.left.abort()
})

import { ApiError, type Client } from '@atelier/client'
import { type DirectoryChange, type DirectoryListing, watchFiles } from '@atelier/contract'
import type { QueryClient } from '@tanstack/react-query'

/** Shortest time between two readings of the tree, in milliseconds: installing packages changes it without a pause. */
const treeEveryMs = 2_000
/** How often the tree is read again while search has yet to catch up with it, at most, and the time between. */
const mostIndexingReads = 8
const indexingEveryMs = 4_000
/** Waits before the stream is opened again, in milliseconds; the last is repeated. */
const reconnectMs = [1_000, 2_000, 5_000, 15_000, 30_000] as const

interface FollowOptions {
  client: Client
  queryClient: QueryClient
  workspaceId: string
  signal: AbortSignal
}

/** Reads again what is shown of a workspace when it changes on disk, until `signal` aborts. */
export async function followDirectory({
  client,
  queryClient,
  workspaceId,
  signal,
}: FollowOptions): Promise<void> {
  const tree = ['workspace', workspaceId, 'tree']
  const files = ['workspace', workspaceId, 'file']
  let timer: ReturnType<typeof setTimeout> | undefined
  let indexingTimer: ReturnType<typeof setTimeout> | undefined
  let lastRead = 0
  let isWholeDue = false
  const stop = () => {
    clearTimeout(timer)
    clearTimeout(indexingTimer)
    timer = undefined
  }
  const isIndexing = () =>
    queryClient
      .getQueriesData<DirectoryListing | null>({ queryKey: tree })
      .some(([, listing]) => listing?.entries.some(({ indexing }) => indexing === 'pending'))
  const watchIndexing = (readsLeft: number) => {
    clearTimeout(indexingTimer)
    indexingTimer = setTimeout(() => {
      if (readsLeft === 0 || !isIndexing()) return
      void queryClient.invalidateQueries({ queryKey: tree })
      watchIndexing(readsLeft - 1)
    }, indexingEveryMs)
  }
  /** Soon, but not more often than the limit; `whole`: the files that are shown too. */
  const read = (whole: boolean) => {
    isWholeDue ||= whole
    const wait = Math.max(0, lastRead + treeEveryMs - Date.now())
    timer ??= setTimeout(() => {
      timer = undefined
      lastRead = Date.now()
      for (const queryKey of isWholeDue ? [tree, files] : [tree])
        void queryClient.invalidateQueries({ queryKey })
      isWholeDue = false
      watchIndexing(mostIndexingReads)
    }, wait)
  }
  /** The first event is for what was read before it; what is being read now is new enough. */
  const readWhatIsOld = () => {
    for (const queryKey of [tree, files])
      void queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false })
    lastRead = Date.now()
    watchIndexing(mostIndexingReads)
  }
  const take = ({ paths, all, watching }: DirectoryChange, isFirst: boolean) => {
    // Starting and stopping are among what such an event tells.
    if (all) void queryClient.invalidateQueries({ queryKey: ['workspace', workspaceId, 'status'] })
    // A workspace that does not run does not change, and reading would start it.
    if (watching === null) return stop()
    if (isFirst) return readWhatIsOld()
    read(all)
    for (const path of paths) {
      void queryClient.invalidateQueries({
        predicate: ({ queryKey: [area, id, kind, at] }) =>
          area === 'workspace' &&
          id === workspaceId &&
          kind === 'file' &&
          (at === path || String(at).startsWith(`${path}/`)),
      })
    }
  }

  signal.addEventListener('abort', stop, { once: true })
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const { events } = await client.stream(watchFiles, { params: { workspaceId } }, { signal })
      let isFirst = true
      for await (const { event } of events) {
        failures = 0
        take(event, isFirst)
        isFirst = false
      }
    } catch (error) {
      if (!(error instanceof ApiError) && !signal.aborted) throw error
      // Told by the status line where the server is away; what is on the page stays, and the next attempt is due.
    }
    await pause(reconnectMs[Math.min(failures, reconnectMs.length - 1)] ?? 0, signal)
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

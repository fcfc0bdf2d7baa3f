import { AppError } from '../../base/app-error.ts'
import type { NewRun, RunProgress, RunStore } from './run-store.ts'

/** Puts what many runs have to write into few statements. */
export interface RunWriter extends AsyncDisposable {
  add(run: NewRun): void
  /** `event` is a JSON text; numbers follow each other without a gap. */
  append(runId: string, number: number, event: string): void
  progress(progress: RunProgress): void
  /** Resolves when what was given of this run has been written, or given up. Does not wait for others. */
  settled(runId: string): Promise<void>
}

interface Logger {
  error(fields: object, message: string): void
}

/** Pause between writes, in milliseconds: what a crash can cost of an answer that is not complete. */
const pauseMilliseconds = 50

/** Pause after the database has not answered, and how often that may be when the server stops. */
const retryMilliseconds = 1_000
const triesAtTheEnd = 3

/** Characters that wait for a database that does not answer; beyond them answers go on, but cannot be resumed. */
const maxWaiting = 32 * 1024 * 1024

/**
 * Group commit: while one statement is under way, everything gathers for the next. When the database does not answer,
 * it is tried again with what has come since; a statement that it refuses is taken apart, so that one run's fault (its
 * person has been deleted) is not the others'.
 */
export function createRunWriter(dependencies: {
  store: Pick<RunStore, 'write'>
  logger: Logger
  /** hears of runs that were asked to stop, at whichever node */
  onStop: (runIds: readonly string[]) => void
}): RunWriter {
  const { store, logger, onStop } = dependencies
  let next = new Map<string, Waiting>()
  let current: ReadonlyMap<string, Waiting> = new Map()
  let waiting = 0
  let failures = 0
  let closing = false
  let wake = (): void => undefined
  let working: Promise<void> | undefined

  function waitingOf(runId: string): Waiting {
    const known = next.get(runId)
    if (known !== undefined) return known
    const created: Waiting = { run: undefined, first: 0, events: [], progress: undefined, done: undefined }
    next.set(runId, created)
    return created
  }

  function work(): void {
    working ??= writeAll().finally(() => {
      working = undefined
    })
  }

  async function writeAll(): Promise<void> {
    while (next.size > 0) {
      await pause()
      const batch = next
      current = batch
      next = new Map()
      waiting = 0
      const done = await written(batch)
      current = new Map()
      failures = done ? 0 : failures + 1
      if (done || (closing && failures > triesAtTheEnd)) release(batch)
      else putBack(batch)
    }
  }

  /** For others to join in; not at all when somebody waits, unless the database needs the rest. */
  function pause(): Promise<void> {
    if (failures === 0 && (closing || [...next.values()].some(({ done }) => done !== undefined))) {
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, failures === 0 ? pauseMilliseconds : retryMilliseconds)
      wake = () => {
        if (failures > 0) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** False: the database does not answer. */
  async function written(batch: ReadonlyMap<string, Waiting>): Promise<boolean> {
    try {
      onStop(await store.write(toStatement(batch)))
      return true
    } catch (error) {
      if (isOutage(error)) {
        logger.error({ err: error, runs: batch.size }, 'the database does not take the runs')
        return false
      }
      if (batch.size === 1) logger.error({ err: error, runId: [...batch.keys()][0] }, 'a run is not stored')
      else for (const entry of batch) await written(new Map([entry]))
      return true
    }
  }

  /** What has come meanwhile follows what was to be written before. */
  function putBack(batch: Map<string, Waiting>): void {
    const size = [...batch.values()].reduce((sum, one) => sum + lengthOf(one.events), 0)
    if (size + waiting > maxWaiting) {
      logger.error({ runs: batch.size, characters: size }, 'the runs that waited longest are not stored')
      release(batch)
      return
    }
    for (const [runId, later] of next) {
      const before = batch.get(runId)
      batch.set(runId, before === undefined ? later : joined(before, later))
    }
    next = batch
    waiting += size
  }

  return {
    add(run) {
      waitingOf(run.id).run = run
      work()
    },
    append(runId, number, event) {
      const entry = waitingOf(runId)
      if (entry.events.length === 0) entry.first = number
      entry.events.push(event)
      waiting += event.length
      work()
    },
    progress(progress) {
      waitingOf(progress.runId).progress = progress
      work()
    },
    async settled(runId) {
      const entry = next.get(runId) ?? current.get(runId)
      if (entry === undefined || working === undefined) return
      entry.done ??= Promise.withResolvers()
      wake()
      await entry.done.promise
    },
    async [Symbol.asyncDispose]() {
      closing = true
      wake()
      await working
    },
  }
}

/** What one run has to write. */
interface Waiting {
  run: NewRun | undefined
  /** number of the first of the events */
  first: number
  events: string[]
  progress: RunProgress | undefined
  /** somebody waits for it */
  done: PromiseWithResolvers<void> | undefined
}

function release(batch: ReadonlyMap<string, Waiting>): void {
  for (const { done } of batch.values()) done?.resolve()
}

function toStatement(batch: ReadonlyMap<string, Waiting>): Parameters<RunStore['write']>[0] {
  const entries = [...batch]
  return {
    runs: entries.flatMap(([, { run }]) => run ?? []),
    groups: entries.flatMap(([runId, { first, events }]) =>
      events.length === 0 ? [] : { runId, first, events },
    ),
    progress: entries.flatMap(([, { progress }]) => progress ?? []),
  }
}

function joined(before: Waiting, later: Waiting): Waiting {
  if (before.done !== undefined) before.done.promise.then(later.done?.resolve)
  return {
    run: before.run ?? later.run,
    first: before.events.length > 0 ? before.first : later.first,
    events: [...before.events, ...later.events],
    progress: later.progress ?? before.progress,
    done: before.done ?? later.done,
  }
}

function lengthOf(events: readonly string[]): number {
  return events.reduce((sum, event) => sum + event.length, 0)
}

function isOutage(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'TIMEOUT')
}

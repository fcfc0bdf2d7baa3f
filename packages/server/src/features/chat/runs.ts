import { setTimeout as wait } from 'node:timers/promises'
import type { ChatReset, ChatStreamEvent, RunState } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import { createRunFeed, type RunFeed, type RunFrame } from './run-feed.ts'
import { createRunRecovery, failedChunk, type KeepLostAnswer } from './run-recovery.ts'
import { leaseSeconds, type NewRun, type RunStore, type StoredRun } from './run-store.ts'
import { createRunWriter } from './run-writer.ts'

export type RunEvent = ChatStreamEvent | ChatReset

/** An event as the answer's maker gives it; `ends` on the last, and only there. */
export interface MadeEvent {
  data: RunEvent
  ends?: 'finished' | 'failed' | 'stopped'
}

/** A run that this process makes. */
export interface LiveRun {
  readonly id: string
  /** Its events after a number, to its end. Ends early when `signal` aborts; the run does not. */
  events(after: number, signal: AbortSignal): AsyncIterable<RunFrame>
}

/** Answers that live on without their readers. */
export interface Runs extends AsyncDisposable {
  /** Takes over the runs that another process of this installation has left. */
  recover(): Promise<void>
  /**
   * Starts an answer: `make` gives its events; numbering, storing and passing them on is done here. Its signal aborts
   * when somebody stops the run, with an AppError when the server stops. Rejects with RATE_LIMITED when the person has
   * too many, with CONFLICT when the conversation has one already.
   */
  start(run: NewRun, make: (signal: AbortSignal) => AsyncIterable<MadeEvent>): Promise<LiveRun>
  /** Rejects with NOT_FOUND for somebody else's run. */
  events(userId: string, runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<RunFrame>>
  /** Resolves with the state after the stop, after a few seconds at most. Rejects with NOT_FOUND. */
  stop(userId: string, runId: string): Promise<RunState>
  /** What it is about. Rejects with NOT_FOUND for somebody else's run. */
  workspaceOf(userId: string, runId: string): Promise<string | null>
  /** conversation -> its answer in the making */
  runningIn(userId: string, chatIds: readonly string[]): Promise<Map<string, string>>
}

interface Logger {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Answers in the making of one person. */
export const maxRunsOfUser = 20

const renewMilliseconds = (leaseSeconds * 1_000) / 3

/** How long the end of a stopped run is waited for, and how often a run of another node is looked at. */
const stopMilliseconds = 5_000
const lookMilliseconds = 500

interface Live {
  run: NewRun
  feed: RunFeed
  stop: AbortController
  ended: Promise<void>
}

export function createRuns(dependencies: {
  store: RunStore
  logger: Logger
  /** no other process can be making runs: all that are not ours are lost */
  alone: boolean
  keepLostAnswer: KeepLostAnswer
}): Runs {
  const { store, logger } = dependencies
  const live = new Map<string, Live>()
  const writer = createRunWriter({
    store,
    logger,
    onStop: (runIds) => {
      for (const id of runIds) live.get(id)?.stop.abort()
    },
  })
  const recovery = createRunRecovery({ ...dependencies, writer, isLive: (id) => live.has(id) })
  const renewal = setInterval(renew, renewMilliseconds)
  renewal.unref()

  function renew(): void {
    for (const { run, feed } of live.values()) {
      writer.progress({ runId: run.id, state: 'running', lastEvent: feed.nextNumber() - 1 })
    }
  }

  async function register(run: NewRun): Promise<void> {
    if ([...live.values()].filter((one) => one.run.userId === run.userId).length >= maxRunsOfUser) {
      throw new AppError(
        'RATE_LIMITED',
        `You have ${maxRunsOfUser} answers in the making; wait for one, or stop one`,
      )
    }
    if (run.chatId === null) return writer.add(run)
    await insert(run).catch(async (error: unknown) => {
      if (!isTaken(error)) throw error
      // Its process may have died a moment ago.
      await recovery.run()
      await insert(run).catch((again: unknown) => {
        throw isTaken(again)
          ? new AppError('CONFLICT', 'This conversation has an answer in the making')
          : again
      })
    })
  }

  const insert = (run: NewRun) => store.write({ runs: [run], groups: [], progress: [] })

  async function make(run: NewRun, feed: RunFeed, made: AsyncIterable<MadeEvent>): Promise<void> {
    let ended = false
    async function add({ data, ends }: MadeEvent): Promise<void> {
      const json = JSON.stringify(data)
      const number = feed.nextNumber()
      writer.append(run.id, number, json)
      if (ends !== undefined) {
        ended = true
        writer.progress({ runId: run.id, state: ends, lastEvent: number })
        // Who reads that an answer has ended may ask the next question of the conversation at once.
        if (run.chatId !== null) await writer.settled(run.id)
      }
      feed.publish(json, { last: ended })
    }
    try {
      for await (const event of made) {
        await add(event)
        if (ended) return
      }
      throw new Error('an answer had no end')
    } catch (error) {
      logger.error({ err: error, runId: run.id }, 'a run failed')
      if (!ended)
        await add({ data: failedChunk(run.id, 'error', 'Something failed on our side'), ends: 'failed' })
    }
  }

  async function* storedEvents(runId: string, after: number): AsyncGenerator<RunFrame> {
    let place = after
    for (;;) {
      const frames = (await store.eventsAfter(runId, place)).filter(({ id }) => id > place)
      if (frames.length === 0) return
      yield* frames
      place = frames.at(-1)?.id ?? place
    }
  }

  /** A run of another node, or one that has ended. */
  async function* eventsElsewhere(userId: string, runId: string, after: number, signal: AbortSignal) {
    let place = after
    while (!signal.aborted) {
      // Asked for before its events: what is stored by the time it has ended is all there is.
      const run = await store.find(userId, runId)
      for await (const frame of storedEvents(runId, place)) {
        place = frame.id
        yield frame
      }
      if (run === null || run.state !== 'running') return
      await wait(lookMilliseconds)
    }
  }

  async function findSettled(userId: string, runId: string): Promise<StoredRun> {
    const found = await store.find(userId, runId)
    if (found !== null) return found
    // One that has ended a moment ago may not be stored yet.
    await writer.settled(runId)
    const late = await store.find(userId, runId)
    if (late === null) throw notFound('Run')
    return late
  }

  async function stateOf(userId: string, runId: string): Promise<RunState> {
    const run = await store.find(userId, runId)
    if (run === null) throw notFound('Run')
    return run.state
  }

  return {
    recover: () => recovery.start(),

    async start(run, makeEvents) {
      await register(run)
      const feed = createRunFeed((after) => storedEvents(run.id, after))
      const stop = new AbortController()
      const ended = make(run, feed, makeEvents(stop.signal)).finally(() => live.delete(run.id))
      live.set(run.id, { run, feed, stop, ended })
      return { id: run.id, events: feed.follow }
    },

    async events(userId, runId, after, signal) {
      const own = live.get(runId)
      if (own !== undefined && own.run.userId === userId) return own.feed.follow(after, signal)
      await findSettled(userId, runId)
      return eventsElsewhere(userId, runId, after, signal)
    },

    async stop(userId, runId) {
      const own = live.get(runId)
      if (own !== undefined && own.run.userId === userId) {
        own.stop.abort()
        await Promise.race([own.ended.then(() => writer.settled(runId)), wait(stopMilliseconds)])
        return stateOf(userId, runId)
      }
      const deadline = performance.now() + stopMilliseconds
      let state = await stateOf(userId, runId)
      if (state === 'running') await store.requestStop(userId, runId)
      while (state === 'running' && performance.now() < deadline) {
        await wait(lookMilliseconds)
        state = await stateOf(userId, runId)
      }
      return state
    },

    async workspaceOf(userId, runId) {
      const own = live.get(runId)
      if (own !== undefined && own.run.userId === userId) return own.run.workspaceId
      return (await findSettled(userId, runId)).workspaceId
    },

    runningIn: (userId, chatIds) => store.runningIn(userId, chatIds),

    async [Symbol.asyncDispose]() {
      clearInterval(renewal)
      const stopping = new AppError('SERVICE_UNAVAILABLE', 'The server is stopping')
      for (const { stop } of live.values()) stop.abort(stopping)
      await Promise.race([
        Promise.allSettled([...live.values()].map(({ ended }) => ended)),
        wait(stopMilliseconds),
      ])
      await recovery[Symbol.asyncDispose]()
      await writer[Symbol.asyncDispose]()
    },
  }
}

/** PostgreSQL's code of a unique violation. */
function isTaken(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '23505'
}

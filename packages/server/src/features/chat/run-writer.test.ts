import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import type { RunStore } from './run-store.ts'
import { createRunWriter, type RunWriter } from './run-writer.ts'

type Statement = Parameters<RunStore['write']>[0]

/** What the database does with a statement; by default it takes it. */
let take: (statement: Statement) => Promise<string[]>
let taken: Statement[]
let errors: string[]
let stopped: string[]
let writer: RunWriter

beforeEach(() => {
  taken = []
  errors = []
  stopped = []
  take = async () => []
  writer = createRunWriter({
    store: {
      async write(statement) {
        const stop = await take(statement)
        taken.push(statement)
        return stop
      },
    },
    logger: { error: (_, message) => void errors.push(message) },
    onStop: (ids) => void stopped.push(...ids),
  })
})
afterEach(() => writer[Symbol.asyncDispose]())

const run = (id: string) => ({ id, userId: 'u', chatId: null, workspaceId: null })
const outage = () => Promise.reject(new AppError('SERVICE_UNAVAILABLE', 'no database'))
const eventsOf = (id: string) =>
  taken.flatMap(({ groups }) => groups.filter((one) => one.runId === id).flatMap((one) => one.events))

describe('the writer of runs', () => {
  it('[RUN1] puts what many runs have to write into one statement', async () => {
    for (const id of ['a', 'b', 'c']) {
      writer.add(run(id))
      for (let number = 1; number <= 3; number += 1) writer.append(id, number, `${number}`)
    }
    await writer.settled('b')
    expect(taken).toHaveLength(1)
    expect(taken[0]?.groups).toEqual(
      ['a', 'b', 'c'].map((runId) => ({ runId, first: 1, events: ['1', '2', '3'] })),
    )
  })

  it('[RUN1] numbers go on where the statement before ended', async () => {
    writer.append('a', 1, '1')
    await writer.settled('a')
    writer.append('a', 2, '2')
    writer.append('a', 3, '3')
    await writer.settled('a')
    expect(taken.flatMap(({ groups }) => groups)).toEqual([
      { runId: 'a', first: 1, events: ['1'] },
      { runId: 'a', first: 2, events: ['2', '3'] },
    ])
  })

  it('[RUN9] catches up, in order, when the database answers again', async () => {
    take = outage
    writer.add(run('a'))
    writer.append('a', 1, '1')
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    writer.append('a', 2, '2')
    take = async () => []
    await writer.settled('a')
    expect(taken).toHaveLength(1)
    expect(taken[0]?.runs).toEqual([run('a')])
    expect(taken[0]?.groups).toEqual([{ runId: 'a', first: 1, events: ['1', '2'] }])
  })

  it('[RUN9] holds a bounded part while the database does not answer, and says what it gives up', async () => {
    take = outage
    const large = 'x'.repeat(12 * 1024 * 1024)
    for (let number = 1; number <= 4; number += 1) {
      writer.append('a', number, large)
      await wait(60)
    }
    await expect
      .poll(() => errors.includes('the runs that waited longest are not stored'), { timeout: 5_000 })
      .toBe(true)
    take = async () => []
  })

  it('[RUN10] one run that the database refuses does not keep the others from being stored', async () => {
    take = ({ runs }) =>
      runs.some(({ id }) => id === 'bad') ? Promise.reject(new Error('refused')) : Promise.resolve([])
    for (const id of ['a', 'bad', 'b']) {
      writer.add(run(id))
      writer.append(id, 1, id)
    }
    await writer.settled('bad')
    expect([eventsOf('a'), eventsOf('b'), eventsOf('bad')]).toEqual([['a'], ['b'], []])
    expect(errors).toEqual(['a run is not stored'])
  })

  it('[RUN4] hears of runs that were asked to stop', async () => {
    take = async () => ['a']
    writer.progress({ runId: 'a', state: 'running', lastEvent: 0 })
    await writer.settled('a')
    expect(stopped).toEqual(['a'])
  })

  it('[RUN8] writes what is left when it closes, and does not wait for ever for a dead database', async () => {
    writer.append('a', 1, 'last')
    await writer[Symbol.asyncDispose]()
    expect(eventsOf('a')).toEqual(['last'])
    take = outage
    writer.append('a', 2, 'lost')
    const closing = performance.now()
    await writer[Symbol.asyncDispose]()
    expect(performance.now() - closing).toBeLessThan(10_000)
  })
})

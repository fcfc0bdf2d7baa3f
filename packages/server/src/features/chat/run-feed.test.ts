import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charactersKept, createRunFeed, type RunFrame } from './run-feed.ts'

const never = new AbortController().signal

async function read(frames: AsyncIterable<RunFrame>): Promise<RunFrame[]> {
  return Array.fromAsync(frames)
}

/** A feed whose published events are also what is stored. */
function feedWithStore() {
  const store: RunFrame[] = []
  const feed = createRunFeed(async function* (after) {
    yield* store.filter(({ id }) => id > after)
  })
  const publish = (json: string, last = false) => {
    store.push({ id: feed.nextNumber(), json })
    feed.publish(json, { last })
  }
  return { feed, publish, store }
}

describe('the feed of a run', () => {
  it('[RUN2] each reader gets every event from its place on, once and in order', async () => {
    const plan = fc.record({
      before: fc.nat(20),
      after: fc.nat(20),
      readers: fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ before, after, readers }) => {
        const { feed, publish } = feedWithStore()
        const total = before + after + 1
        for (let number = 1; number <= before; number += 1) publish(`${number}`)
        const reading = readers.map((place) => read(feed.follow(place, never)))
        for (let number = before + 1; number <= total; number += 1) {
          publish(`${number}`, number === total)
          if (number % 3 === 0) await Promise.resolve()
        }
        for (const [index, frames] of (await Promise.all(reading)).entries()) {
          const expected = Array.from({ length: total }, (_, at) => at + 1).filter(
            (at) => at > (readers[index] ?? 0),
          )
          expect(frames).toEqual(expected.map((id) => ({ id, json: `${id}` })))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('[RUN2] a reader far behind gets what has left the memory from the store', async () => {
    const { feed, publish, store } = feedWithStore()
    const large = 'x'.repeat(charactersKept / 4)
    for (let number = 1; number <= 12; number += 1) publish(`${number}${large}`, number === 12)
    expect(await read(feed.follow(0, never))).toEqual(store)
  })

  it('[RUN2] a reader that catches up with the store goes on with the memory', async () => {
    const { feed, publish, store } = feedWithStore()
    const large = 'x'.repeat(charactersKept / 4)
    const frames: RunFrame[] = []
    for (let number = 1; number <= 6; number += 1) publish(large)
    const reading = (async () => {
      for await (const frame of feed.follow(0, never)) {
        frames.push(frame)
        if (frames.length < 20) publish(large, frames.length === 19)
      }
    })()
    await reading
    expect(frames).toEqual(store)
  })

  it('[RUN3] a reader that leaves ends, the others go on', async () => {
    const { feed, publish } = feedWithStore()
    const leaving = new AbortController()
    const gone = read(feed.follow(0, leaving.signal))
    const staying = read(feed.follow(0, never))
    publish('1')
    leaving.abort()
    await gone
    publish('2', true)
    expect((await staying).map(({ json }) => json)).toEqual(['1', '2'])
  })

  it('[RUN2] what could not be stored is an error, not a gap', async () => {
    const feed = createRunFeed(async function* () {})
    const large = 'x'.repeat(charactersKept / 2)
    for (let number = 1; number <= 5; number += 1) feed.publish(large, { last: number === 5 })
    await expect(read(feed.follow(0, never))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

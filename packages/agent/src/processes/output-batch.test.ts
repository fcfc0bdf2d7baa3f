import { describe, expect, it } from 'vitest'
import { batchSize, createOutputBatch } from './output-batch.ts'

const bytes = (length: number, value = 1) => new Uint8Array(length).fill(value)
/** Longer than any test runs: only fullness or the end can cut the wait short. */
const forEver = 1_000_000

describe('gathering output', () => {
  it('[AGT41] gives what came first at once, and lets what follows wait for company', async () => {
    const batch = createOutputBatch({ room: () => undefined, gatherMs: 30 })
    batch.add(bytes(1))
    expect((await batch.next())?.length).toBe(1)
    batch.add(bytes(1))
    const second = batch.next()
    batch.add(bytes(2))
    expect((await second)?.length).toBe(3)
  })

  it('[AGT41] does not wait once there is a full batch', async () => {
    const batch = createOutputBatch({ room: () => undefined, gatherMs: forEver })
    batch.add(bytes(1))
    await batch.next()
    batch.add(bytes(1))
    const second = batch.next()
    batch.add(bytes(batchSize))
    expect((await second)?.length).toBe(batchSize + 1)
  })

  it('[AGT41] stops its source when full and calls it back when there is room, losing nothing', async () => {
    let room = 0
    const batch = createOutputBatch({
      room: () => {
        room += 1
      },
      gatherMs: 0,
    })
    expect(batch.add(bytes(batchSize - 1))).toBe(true)
    expect(batch.add(bytes(10, 2))).toBe(false)
    const all = await batch.next()
    expect(room).toBe(1)
    expect(all?.length).toBe(batchSize + 9)
    expect([...(all ?? bytes(0)).subarray(-10)]).toEqual([...bytes(10, 2)])
  })

  it('[AGT40] gives what is left before it says that it has ended', async () => {
    const batch = createOutputBatch({ room: () => undefined, gatherMs: forEver })
    batch.add(bytes(1))
    await batch.next()
    batch.add(bytes(5))
    batch.end()
    expect((await batch.next())?.length).toBe(5)
    expect(await batch.next()).toBeNull()
  })
})

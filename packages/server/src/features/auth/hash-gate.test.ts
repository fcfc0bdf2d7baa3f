import { describe, expect, it } from 'vitest'
import { createHashGate } from './hash-gate.ts'

describe('password hashing', () => {
  it('[AUTH8] runs two at a time, in order, and refuses when a hundred wait', async () => {
    const gate = createHashGate()
    const held = Promise.withResolvers<void>()
    const started: number[] = []
    let running = 0
    let most = 0
    const work = (index: number) => async () => {
      started.push(index)
      running += 1
      most = Math.max(most, running)
      await held.promise
      running -= 1
      return index
    }
    const all = Array.from({ length: 102 }, (_, index) => gate(work(index)))
    expect(started).toEqual([0, 1])
    await expect(gate(work(102))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    held.resolve()
    expect(await Promise.all(all)).toEqual(Array.from({ length: 102 }, (_, index) => index))
    expect(started).toEqual(Array.from({ length: 102 }, (_, index) => index))
    expect(most).toBe(2)
  })

  it('[AUTH8] work that fails makes room for the next', async () => {
    const gate = createHashGate()
    const failures = Array.from({ length: 10 }, () => gate(() => Promise.reject(new Error('no memory'))))
    const outcomes = await Promise.allSettled(failures)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(await gate(async () => 'done')).toBe('done')
  })
})

import { expect, it } from 'vitest'
import { createPendingChanges, maxPendingPaths } from './pending-changes.ts'

it('[IDX2] a path that changes often waits once, and is pending until it is done', () => {
  const pending = createPendingChanges()
  expect(pending.take()).toBeNull()
  pending.add(['a', 'b'])
  pending.add(['a'])
  expect(pending.size()).toBe(2)
  expect(pending.take()).toEqual({ kind: 'paths', paths: ['a', 'b'] })
  expect([pending.size(), pending.has('a'), pending.has('c')]).toEqual([2, true, false])
  pending.add(['c'])
  expect([pending.size(), pending.has('c')]).toEqual([3, true])
  pending.done()
  expect([pending.size(), pending.has('a'), pending.has('c')]).toEqual([1, false, true])
})

it('[IDX5] too many paths become the whole directory, and take no more memory', () => {
  const pending = createPendingChanges()
  const many = Array.from({ length: maxPendingPaths + 1 }, (_, at) => `f${at}`)
  pending.add(many)
  pending.add(['more'])
  expect([pending.size(), pending.has('anything')]).toEqual([1, true])
  expect(pending.take()).toEqual({ kind: 'whole' })
  expect(pending.take()).toBeNull()
  expect(pending.size()).toBe(1)
  pending.done()
  expect(pending.size()).toBe(0)
})

it('[IDX6] what could not be done waits again, beside what came meanwhile', () => {
  const pending = createPendingChanges()
  pending.add(['a'])
  pending.take()
  pending.add(['b'])
  pending.giveBack()
  expect(pending.take()).toEqual({ kind: 'paths', paths: ['b', 'a'] })
  pending.addWhole()
  pending.giveBack()
  expect(pending.take()).toEqual({ kind: 'whole' })
  pending.giveBack()
  expect(pending.take()).toEqual({ kind: 'whole' })
})

it('[IDX2] whoever waits for work is told when there is some', async () => {
  const pending = createPendingChanges()
  let told = 0
  const wait = async () => {
    await pending.ready()
    told += 1
  }
  const first = wait()
  await Promise.resolve()
  expect(told).toBe(0)
  pending.add(['a'])
  await first
  pending.take()
  const second = wait()
  await Promise.resolve()
  expect(told).toBe(1)
  pending.giveBack()
  await second
})

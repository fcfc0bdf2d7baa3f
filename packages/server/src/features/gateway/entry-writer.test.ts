import { expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { noUsage } from '../../platform/models/usage.ts'
import { createEntryWriter } from './entry-writer.ts'
import type { CallEntry } from './ledger.ts'

const silent = { error() {} }
const entry = (callId: string): CallEntry => ({
  ...{
    callId,
    userId: 'usr_a',
    workspaceId: null,
    apiKeyId: null,
    runId: 'run_a',
    model: 'm',
    provider: 'p',
  },
  ...{ finishReason: 'stop', usage: noUsage, cost: '0', charge: '0' },
})

/** A database that keeps what it is given, after it has failed as often as told. */
function database(failures: number) {
  const kept: string[] = []
  let left = failures
  return {
    kept,
    write: async (entries: readonly CallEntry[]) => {
      left -= 1
      if (left >= 0) throw new AppError('SERVICE_UNAVAILABLE', 'The database does not answer')
      if (entries.some(({ callId }) => callId === 'refused')) throw new Error('violates a constraint')
      kept.push(...entries.map(({ callId }) => callId))
    },
  }
}

it('[LED10] entries wait for a database that does not answer, and all are written in their order', async () => {
  const { kept, write } = database(2)
  await using writer = createEntryWriter({ write, logger: silent })
  writer.add(entry('1'))
  writer.add(entry('2'))
  await expect.poll(() => kept).toEqual(['1', '2'])
  writer.add(entry('3'))
  await expect.poll(() => kept).toEqual(['1', '2', '3'])
})

it('[LED10] what waits when the server stops is tried again before it ends', async () => {
  const { kept, write } = database(2)
  const writer = createEntryWriter({ write, logger: silent })
  writer.add(entry('1'))
  await writer[Symbol.asyncDispose]()
  expect(kept).toEqual(['1'])
})

it('[LED10] an entry that the database refuses is not the loss of the others', async () => {
  const { kept, write } = database(0)
  const lost: unknown[] = []
  const writer = createEntryWriter({ write, logger: { error: (fields) => lost.push(fields) } })
  for (const callId of ['1', 'refused', '2']) writer.add(entry(callId))
  await writer[Symbol.asyncDispose]()
  expect(kept).toEqual(['1', '2'])
  expect(lost).toMatchObject([{ entry: { callId: 'refused' } }])
})

it('[LED10] beyond 100,000 waiting entries the oldest are lost, and that is said', async () => {
  const { kept, write } = database(1)
  const lost: unknown[] = []
  const writer = createEntryWriter({ write, logger: { error: (fields) => lost.push(fields) } })
  for (let call = 0; call < 100_001; call += 1) writer.add(entry(String(call)))
  await writer[Symbol.asyncDispose]()
  expect(kept).toHaveLength(100_000)
  expect(kept.at(-1)).toBe('100000')
  expect(lost).toContainEqual({ entries: 1 })
})

it('[LED8] who asks for the usage does not wait for the next statement, and waits for no dead database', async () => {
  const { kept, write } = database(0)
  await using writer = createEntryWriter({ write, logger: silent })
  await writer.flushed()
  writer.add(entry('1'))
  await writer.flushed()
  expect(kept).toEqual(['1'])

  const dead = database(1)
  await using late = createEntryWriter({ write: dead.write, logger: silent })
  late.add(entry('1'))
  await late.flushed()
  expect(dead.kept).toEqual([])
})

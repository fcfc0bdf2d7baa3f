import { listProviderHealth, stopChatStream } from '@atelier/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  becomeEverywhere,
  everyLane,
  type FaultLanes,
  type Lane,
  leaveInTheMiddle,
  ledgerOf,
  startFaultLanes,
  streamed,
  whole,
} from './gateway-fault-lane.ts'
import { type Fault, hugeText, pieces } from './gateway-fault-provider.ts'

const answer = pieces.join('')
const upTo = (count: number) => pieces.slice(0, count).join('')

/** Seconds until a provider is given up: only what hangs takes them, and what is well needs a fraction. */
const patience = 3

let faults: FaultLanes

beforeAll(async () => {
  faults = await startFaultLanes(patience)
})
// Every test begins with closed breakers: after a while, one call that succeeds closes them.
beforeEach(async () => {
  await becomeEverywhere(faults.lanes, { kind: 'none' })
  faults.letBreakersRest()
  await everyLane(faults.lanes, async (lane) => {
    const { calls } = await ledgerOf(lane, lane.model)
    expect((await streamed(lane)).text).toBe(answer)
    await expect.poll(async () => (await ledgerOf(lane, lane.model)).calls).toBe(calls + 1)
  })
})
afterAll(() => faults?.[Symbol.asyncDispose]())

interface Expected {
  answer: object
  /** entries of the ledger, for the model that was asked and for its fallback */
  own: Entries
  other: Entries
}

interface Entries {
  calls: number
  estimated: number
  outputTokens: number
  paid: boolean
}

/** What a person gets and what is written down, lane by lane, next to what should be. */
async function expectEverywhere(
  fault: Fault,
  ask: (lane: Lane) => Promise<object>,
  expected: (lane: Lane) => Expected,
): Promise<void> {
  await becomeEverywhere(faults.lanes, fault)
  // Ten megabytes are work: a lane's limits are not for all lanes' work.
  const together = fault.kind !== 'huge'
  const seen = await everyLane(
    faults.lanes,
    async (lane) => {
      const { own, other } = expected(lane)
      const before = await ledgersOf(lane)
      const given = await ask(lane)
      const added = () => addedTo(lane, before)
      await expect
        .poll(async () => (await added()).map(({ calls }) => calls), { message: lane.name })
        .toEqual([own.calls, other.calls])
      const [ownEntries, otherEntries] = await added()
      return { answer: given, own: ownEntries, other: otherEntries }
    },
    together,
  )
  expect(seen).toMatchObject(Object.fromEntries(faults.lanes.map((lane) => [lane.name, expected(lane)])))
}

type LedgerRow = Awaited<ReturnType<typeof ledgerOf>>

const ledgersOf = (lane: Lane) =>
  Promise.all([lane.model, lane.fallback].map((model) => ledgerOf(lane, model)))

async function addedTo(lane: Lane, before: readonly LedgerRow[]): Promise<Entries[]> {
  const after = await ledgersOf(lane)
  return after.map((row, index) => {
    const { calls = 0, estimated = 0, outputTokens = 0, cost = '0' } = before[index] ?? {}
    return {
      calls: row.calls - calls,
      estimated: row.estimated - estimated,
      outputTokens: row.outputTokens - outputTokens,
      paid: row.cost !== cost,
    }
  })
}

const nothing: Entries = { calls: 0, estimated: 0, outputTokens: 0, paid: false }
const counted: Entries = { calls: 1, estimated: 0, outputTokens: 120, paid: true }
const estimatedFor = (text: string): Entries => {
  return { calls: 1, estimated: 1, outputTokens: Math.ceil(text.length / 4), paid: true }
}

/** The whole answer of the fallback after these outcomes of the model that was asked. */
function fallbackAnswers(outcomes: readonly string[]): (lane: Lane) => Expected {
  return ({ model, fallback, fallbackCost }) => {
    const attempts = [
      ...outcomes.map((outcome) => ({ model, outcome })),
      { model: fallback, outcome: 'answered' },
    ]
    const usage = { outputTokens: 120, estimated: false }
    return {
      answer: {
        text: answer,
        modelUsed: fallback,
        terminals: [{ finishReason: 'stop', cost: fallbackCost, usage, attempts }],
      },
      own: nothing,
      other: counted,
    }
  }
}

const thrice = ['transient', 'transient', 'transient']

const faultsBeforeContent: [string, Fault, string[]][] = [
  ['429 with Retry-After', { kind: 'status', status: 429, retryAfterSeconds: 30 }, ['transient']],
  ['429 without', { kind: 'status', status: 429 }, thrice],
  ['500', { kind: 'status', status: 500 }, thrice],
  ['401', { kind: 'status', status: 401 }, ['key']],
  ['a refused connection', { kind: 'refused' }, thrice],
  ['a hang before the headers', { kind: 'hang' }, ['timeout']],
  ['a hang before the text', { kind: 'hang-after', after: 0 }, ['timeout']],
  ['a cut before the text', { kind: 'cut', after: 0 }, thrice],
  ['an error at once in a 200', { kind: 'error-event', after: 0 }, thrice],
]

const faultsInTheMiddle: [string, Fault & { after: number }, string, string][] = [
  ['a hang after 20 pieces', { kind: 'hang-after', after: 20 }, 'interrupted', 'TIMEOUT'],
  ['a cut after 40 of 60', { kind: 'cut', after: 40 }, 'interrupted', 'PROVIDER_ERROR'],
  ['a malformed event after 30', { kind: 'malformed', after: 30 }, 'error', 'PROVIDER_ERROR'],
  ['an error event after 30', { kind: 'error-event', after: 30 }, 'error', 'PROVIDER_ERROR'],
]

const oddities: [string, Fault, string, boolean][] = [
  ['a usage that is missing', { kind: 'missing-usage' }, answer, true],
  ['bytes that drip', { kind: 'slow-drip' }, answer, false],
  ['an event of 10 MB', { kind: 'huge' }, hugeText, false],
]

describe('a stream, whatever its provider does', () => {
  it.each(faultsBeforeContent)(
    '[GW6, GW17, GW21] %s is not seen: the fallback answers',
    (_, fault, outcomes) => expectEverywhere(fault, streamed, fallbackAnswers(outcomes)),
  )

  it.each(faultsInTheMiddle)(
    '[GW9, GW17, GW21] %s ends it once, honestly, and is paid by estimate',
    (_, fault, finishReason, code) => {
      const text = upTo(fault.after)
      return expectEverywhere(fault, streamed, ({ model }) => ({
        answer: { text, modelUsed: model, terminals: [{ done: true, finishReason, error: { code } }] },
        own: estimatedFor(text),
        other: nothing,
      }))
    },
  )

  it.each(faultsInTheMiddle)('[GW18, GW21] %s begins again with the fallback, for who asks', (_, fault) =>
    expectEverywhere(
      fault,
      (lane) => streamed(lane, { reset: true }),
      () => ({
        answer: {
          text: answer,
          resets: 1,
          terminals: [{ finishReason: 'stop', usage: { estimated: true } }],
        },
        own: estimatedFor(upTo(fault.after)),
        other: counted,
      }),
    ),
  )

  it.each(oddities)('[GW9, GW21] %s gives the whole answer', (_, fault, text, estimated) => {
    const own = estimated ? estimatedFor(text) : counted
    const usage = { outputTokens: own.outputTokens, estimated }
    return expectEverywhere(fault, streamed, ({ model }) => ({
      answer: { text, modelUsed: model, terminals: [{ finishReason: 'stop', usage }] },
      own,
      other: nothing,
    }))
  })

  it('[RUN4, GW21] a provider that does not notice a cancel is left alone when the answer is stopped', async () => {
    await becomeEverywhere(faults.lanes, { kind: 'endless' })
    await everyLane(faults.lanes, async (lane) => {
      const before = await ledgersOf(lane)
      let stopped: Promise<unknown> | undefined
      const { terminals } = await streamed(lane, {
        onText(runId) {
          stopped ??= lane.client.call(stopChatStream, { query: { runId } })
        },
      })
      await stopped
      expect(terminals, lane.name).toMatchObject([{ finishReason: 'aborted', usage: { estimated: true } }])
      await expectLeftAlone(lane, before)
    })
  })

  it('[GW8, GW13, GW21] … and when the caller of the OpenAI dialect goes away', async () => {
    await becomeEverywhere(faults.lanes, { kind: 'endless' })
    await everyLane(faults.lanes, async (lane) => {
      const before = await ledgersOf(lane)
      await leaveInTheMiddle(lane)
      await expectLeftAlone(lane, before)
    })
  })
})

/** The connection to the provider is closed, which is no failure of it, and what came is in the ledger. */
async function expectLeftAlone(lane: Lane, before: readonly LedgerRow[]): Promise<void> {
  await expect.poll(() => lane.provider.answering, { message: lane.name }).toBe(0)
  await expect
    .poll(async () => (await addedTo(lane, before))[0], { message: lane.name })
    .toMatchObject({ calls: 1, estimated: 1, paid: true })
  const { items } = await lane.client.call(listProviderHealth)
  const health = items.find(({ models }) => models.some(({ model }) => model === lane.model))
  expect(health, lane.name).toMatchObject({ failures: 0 })
}

describe('a whole answer, whatever its provider does', () => {
  it.each([
    ...faultsBeforeContent,
    ...faultsInTheMiddle.map(
      ([name, fault]) => [name, fault, fault.kind === 'hang-after' ? ['timeout'] : thrice] as const,
    ),
  ])('[GW6, GW7, GW21] %s is not seen: the fallback answers', (_, fault, outcomes) =>
    expectEverywhere(fault, whole, fallbackAnswers(outcomes)),
  )

  it.each(oddities)('[GW9, GW21] %s gives it', (_, fault, text, estimated) => {
    const own = estimated ? estimatedFor(text) : counted
    const usage = { outputTokens: own.outputTokens, estimated }
    return expectEverywhere(fault, whole, ({ model }) => ({
      answer: { text, modelUsed: model, terminals: [{ finishReason: 'stop', usage }] },
      own,
      other: nothing,
    }))
  })
})

import { Socket } from 'node:net'
import { queryObjects } from 'node:v8'
import { ApiError } from '@atelier/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  everyLane,
  type FaultLanes,
  type Lane,
  leaveInTheMiddle,
  startFaultLanes,
  streamed,
  whole,
} from './gateway-fault-lane.ts'
import type { Fault } from './gateway-fault-provider.ts'

/** What a lane goes through in its turns; what hangs takes a second each, so it has fewer. */
const quick: Fault[] = [
  { kind: 'none' },
  { kind: 'status', status: 429, retryAfterSeconds: 30 },
  { kind: 'status', status: 429 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 401 },
  { kind: 'refused' },
  { kind: 'cut', after: 0 },
  { kind: 'cut', after: 40 },
  { kind: 'malformed', after: 30 },
  { kind: 'error-event', after: 0 },
  { kind: 'error-event', after: 30 },
  { kind: 'missing-usage' },
  { kind: 'slow-drip' },
  { kind: 'endless' },
]
const slow: Fault[] = [{ kind: 'hang' }, { kind: 'hang-after', after: 20 }, { kind: 'huge' }]
const rounds = 1_000

let faults: FaultLanes
let warnings: Error[]
const remember = (warning: Error) => void warnings.push(warning)

beforeAll(async () => {
  warnings = []
  process.on('warning', remember)
  faults = await startFaultLanes(1)
})
afterAll(async () => {
  await faults?.[Symbol.asyncDispose]()
  process.off('warning', remember)
})

/** One answer, streamed, restarted, whole or left, in turn. */
async function round(lane: Lane, fault: Fault, turn: number): Promise<void> {
  await lane.provider.become(fault)
  const asked =
    fault.kind === 'endless'
      ? leaveInTheMiddle(lane)
      : turn % 3 === 0
        ? whole(lane)
        : streamed(lane, { reset: turn % 3 === 1 })
  // On a machine that is very busy the fallback may be late, too: that is an end like others.
  await asked.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
}

/** Goes through the faults in every lane at once, as often as it takes; the breakers let a probe through each time. */
async function play(list: readonly Fault[], count: number): Promise<void> {
  for (let played = 0, turn = 0; played < count; played += faults.lanes.length, turn += 1) {
    const fault = list[turn % list.length] ?? { kind: 'none' as const }
    faults.letBreakersRest()
    await everyLane(faults.lanes, (lane) => round(lane, fault, Math.floor(turn / list.length)))
  }
}

/** What lives after a collection of everything that does not. */
function alive() {
  return {
    sockets: queryObjects(Socket, { format: 'count' }),
    signals: queryObjects(AbortSignal, { format: 'count' }),
    streams: queryObjects(ReadableStream, { format: 'count' }),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  }
}

describe('the fault lane', () => {
  it('[GW21] leaves nothing behind after 1,000 rounds', { timeout: 300_000 }, async () => {
    // What is made once is made: connections, pools, and one breaker for each model.
    await play(quick, quick.length * faults.lanes.length)
    const before = alive()
    await play(slow, slow.length * faults.lanes.length)
    await play(quick, rounds - slow.length * faults.lanes.length)
    for (const { provider } of faults.lanes) await provider.become({ kind: 'none' })
    await expect
      .poll(() => faults.lanes.map(({ provider }) => provider.answering))
      .toEqual(faults.lanes.map(() => 0))
    // A leak of one thing a round would be a thousand, of one thing in one kind of round sixty.
    await expect
      .poll(
        () =>
          Object.entries(alive()).filter(([name, count]) => count > before[name as keyof typeof before] + 50),
        {
          timeout: 60_000,
          interval: 1_000,
        },
      )
      .toEqual([])
    expect(warnings.filter(({ name }) => name !== 'ExperimentalWarning')).toEqual([])
  })
})

import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Breaker, type CallOutcome, createBreaker } from './breaker.ts'

const success: CallOutcome = { kind: 'success' }
const failure: CallOutcome = { kind: 'failure' }
const neutral: CallOutcome = { kind: 'neutral' }

let now: number
let breaker: Breaker

beforeEach(() => {
  now = 1_000_000
  breaker = createBreaker({ clock: () => now })
})

function call(...outcomes: CallOutcome[]): void {
  for (const outcome of outcomes) breaker.enter()?.settle(outcome)
}

describe('breaker', () => {
  it('[GW10] it opens at five calls of which half failed, not before', () => {
    call(failure, failure, failure, failure)
    expect(breaker.state()).toBe('closed')
    call(success)
    expect(breaker.state()).toBe('closed')
    call(failure)
    expect(breaker.state()).toBe('open')
    expect(breaker.enter()).toBeNull()
  })

  it('[GW10] it stays closed while less than half of the calls fail', () => {
    for (let round = 0; round < 50; round += 1) call(success, success, failure)
    expect(breaker.state()).toBe('closed')
    expect(breaker.window()).toEqual({ calls: 150, failures: 50 })
  })

  it('[GW10] failures of more than a minute ago do not count', () => {
    call(failure, failure, failure, failure)
    now += 61_000
    call(failure)
    expect(breaker.state()).toBe('closed')
    expect(breaker.window()).toEqual({ calls: 1, failures: 1 })
  })

  it('[GW11] after its pause one probe decides, and only one at a time', () => {
    call(failure, failure, failure, failure, failure)
    expect(breaker.retryInMilliseconds()).toBe(5_000)
    now += 5_000
    expect(breaker.state()).toBe('half-open')
    const probe = breaker.enter()
    expect(probe).not.toBeNull()
    expect(breaker.enter()).toBeNull()
    probe?.settle(success)
    expect(breaker.state()).toBe('closed')
    call(failure)
    expect(breaker.state()).toBe('closed')
  })

  it('[GW11] each probe that fails doubles the pause, up to five minutes', () => {
    call(failure, failure, failure, failure, failure)
    const pauses = []
    for (let round = 0; round < 9; round += 1) {
      pauses.push(breaker.retryInMilliseconds())
      now += breaker.retryInMilliseconds()
      call(failure)
    }
    expect(pauses.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000])
    expect(pauses.at(-1)).toBe(300_000)
  })

  it('[GW12] a provider that says how long to wait is not called before, even after one failure', () => {
    call({ kind: 'failure', block: 30_000 })
    expect(breaker.state()).toBe('open')
    now += 29_999
    expect(breaker.enter()).toBeNull()
    now += 1
    expect(breaker.enter()).not.toBeNull()
  })

  it('[GW12] of several waits that calls under way bring back, the longest is kept', () => {
    const [first, second, third] = [breaker.enter(), breaker.enter(), breaker.enter()]
    first?.settle({ kind: 'failure', block: 10_000 })
    second?.settle({ kind: 'failure', block: 30_000 })
    third?.settle({ kind: 'failure', block: 5_000 })
    now += 29_999
    expect(breaker.enter()).toBeNull()
    now += 1
    expect(breaker.enter()).not.toBeNull()
  })

  it('[GW13] a caller that leaves tells nothing about the provider', () => {
    call(...Array<CallOutcome>(100).fill(neutral), failure, failure, failure, failure)
    expect(breaker.state()).toBe('closed')
    call(failure)
    now += 5_000
    breaker.enter()?.settle(neutral)
    expect(breaker.state()).toBe('half-open')
    expect(breaker.enter()).not.toBeNull()
  })

  it('[GW11] what began before it opened does not close it', () => {
    const early = breaker.enter()
    call(failure, failure, failure, failure, failure)
    now += 5_000
    early?.settle(success)
    expect(breaker.state()).toBe('half-open')
  })

  it('[GW11] a probe that never ends does not keep it shut for ever', () => {
    call(failure, failure, failure, failure, failure)
    now += 5_000
    breaker.enter()
    now += 599_999
    expect(breaker.enter()).toBeNull()
    now += 1
    expect(breaker.enter()).not.toBeNull()
  })

  it('[GW11] whatever happens, it admits a call again at the latest five minutes after the last', () => {
    const steps = fc.array(
      fc.record({
        wait: fc.nat(120_000),
        outcome: fc.constantFrom<CallOutcome>(success, failure, neutral),
      }),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(steps, (history) => {
        let time = 1_000_000
        const tested = createBreaker({ clock: () => time })
        for (const { wait, outcome } of history) {
          time += wait
          tested.enter()?.settle(outcome)
        }
        time += 300_000
        expect(tested.enter()).not.toBeNull()
      }),
    )
  })
})

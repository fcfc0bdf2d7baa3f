import type { Attempt, ModelRecord } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import { AppError, invalidField } from '../../base/app-error.ts'
import { ProviderError, type ProviderErrorKind } from '../../platform/models/provider-error.ts'
import { type AttemptOptions, attemptInOrder } from './attempts.ts'
import { createCallRouter } from './call-router.ts'
import { createModelRates } from './model-rates.ts'

const unlimited = createModelRates({ limits: {}, clock: Date.now })
const model = (key: string) => ({ key, name: `Model ${key}`, provider: `provider of ${key}` }) as ModelRecord
const failure = (key: string, kind: ProviderErrorKind, retryAfterMilliseconds?: number) =>
  new ProviderError(
    kind,
    { provider: 'p', model: key },
    retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds },
  )

/** `script`: what each model does at each call, in order. Calls with a second key are noted as `a/2`. */
function attempt(
  script: Record<string, (string | AppError)[]>,
  changes: Partial<AttemptOptions<string>> & { keys?: number } = {},
) {
  const { keys = 1, ...options } = changes
  const calls: string[] = []
  const counts = new Map<string, number>()
  const attempts: Attempt[] = []
  const result = attemptInOrder<string>({
    candidates: Object.keys(script).map(model),
    attempts,
    router: createCallRouter({ rates: unlimited, keysOf: () => keys, clock: () => performance.now() }),
    signal: new AbortController().signal,
    totalMilliseconds: 30_000,
    random: () => 0,
    async call({ key }, keyIndex) {
      calls.push(keyIndex === 0 ? key : `${key}/${keyIndex + 1}`)
      const count = counts.get(key) ?? 0
      counts.set(key, count + 1)
      const step = script[key]?.[count]
      if (step === undefined) throw new Error(`unexpected call of ${key}`)
      if (step instanceof AppError) throw step
      return step
    },
    ...options,
  })
  return { calls, attempts, result }
}

describe('attempts', () => {
  it('[GW5] what may pass is tried again', async () => {
    const script = { a: [failure('a', 'transient'), failure('a', 'transient'), 'yes'] }
    const { calls, attempts, result } = attempt(script)
    expect(await result).toMatchObject({ result: 'yes', model: { key: 'a' } })
    expect(calls).toEqual(['a', 'a', 'a'])
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['transient', 'transient', 'answered'])
  })

  it('[GW5] a model is called three times at most', async () => {
    const { calls, result } = attempt({ a: Array(5).fill(failure('a', 'transient')), b: ['yes'] })
    expect(await result).toMatchObject({ result: 'yes', model: { key: 'b' } })
    expect(calls).toEqual(['a', 'a', 'a', 'b'])
  })

  it.each(['key', 'context-length', 'policy', 'request', 'timeout'] as const)(
    '[GW6] what will not pass goes over to the next model at once: %s',
    async (kind) => {
      const { calls, result } = attempt({ a: [failure('a', kind)], b: ['yes'] })
      expect((await result).result).toBe('yes')
      expect(calls).toEqual(['a', 'b'])
    },
  )

  it('[GW6] a prompt that is too long for one model is tried with the next', async () => {
    const { attempts, result } = attempt({ a: [invalidField('message', 'is too long')], b: ['yes'] })
    await result
    expect(attempts).toMatchObject([{ outcome: 'prompt-too-long' }, { outcome: 'answered' }])
  })

  it('[GW6] when all fail, the failure is that of the model that was asked for, with every attempt', async () => {
    const { result } = attempt({ a: [failure('a', 'key')], b: [failure('b', 'timeout')] })
    await expect(result).rejects.toMatchObject({
      code: 'PROVIDER_ERROR',
      details: {
        kind: 'key',
        model: 'a',
        attempts: [
          { model: 'a', outcome: 'key' },
          { model: 'b', outcome: 'timeout' },
        ],
      },
    })
  })

  it('[GW5] a provider that asks for a short wait gets it, for a longer one another model is asked', async () => {
    const started = performance.now()
    const short = attempt({ a: [failure('a', 'transient', 60), 'yes'] })
    expect((await short.result).result).toBe('yes')
    expect(performance.now() - started).toBeGreaterThanOrEqual(59)
    const long = attempt({ a: [failure('a', 'transient', 1_500)], b: ['yes'] })
    expect((await long.result).model.key).toBe('b')
    expect(long.calls).toEqual(['a', 'b'])
  })

  it('[GW7] all attempts share one deadline', async () => {
    const { result } = attempt(
      { a: [], b: [] },
      {
        totalMilliseconds: 50,
        call: (_model, _keyIndex, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          }),
      },
    )
    await expect(result).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('[GW7] a model that never answers leaves half of the time to the next', async () => {
    const hanging = (signal: AbortSignal) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    const { result, attempts } = attempt(
      { a: [], b: [] },
      {
        totalMilliseconds: 2_000,
        call: ({ key }, _keyIndex, signal) => (key === 'a' ? hanging(signal) : Promise.resolve('yes')),
      },
    )
    expect((await result).model.key).toBe('b')
    expect(attempts).toMatchObject([
      { model: 'a', outcome: 'timeout' },
      { model: 'b', outcome: 'answered' },
    ])
  })

  it('[GW7] a wait that would pass the deadline is not begun', async () => {
    const { calls, result } = attempt(
      { a: [failure('a', 'transient', 5_000), 'late'] },
      { totalMilliseconds: 1_000 },
    )
    await expect(result).rejects.toMatchObject({ code: 'PROVIDER_ERROR', details: { kind: 'transient' } })
    expect(calls).toEqual(['a'])
  })

  it('[GW8] a caller that leaves ends the attempts, also while they wait', async () => {
    const caller = new AbortController()
    const { calls, result } = attempt(
      { a: [failure('a', 'transient', 9_000), 'never'] },
      { signal: caller.signal },
    )
    setImmediate(() => caller.abort(new Error('left')))
    await expect(result).rejects.toThrow('left')
    expect(calls).toEqual(['a'])
  })

  it.each([
    ['key', undefined],
    ['transient', 30_000],
  ] as const)('[GW14] another key is tried at once where one does not do: %s', async (kind, retryAfter) => {
    const { calls, result } = attempt({ a: [failure('a', kind, retryAfter), 'yes'] }, { keys: 2 })
    expect((await result).result).toBe('yes')
    expect(calls).toEqual(['a', 'a/2'])
  })

  it('[GW14] calls take the keys of a provider in turn', async () => {
    const router = createCallRouter({ rates: unlimited, keysOf: () => 3, clock: Date.now })
    const used: number[] = []
    for (let round = 0; round < 6; round += 1) {
      const call = async (_: ModelRecord, keyIndex: number) => {
        used.push(keyIndex)
        return 'yes'
      }
      await attempt({ a: [] }, { router, call }).result
    }
    expect(used).toEqual([0, 1, 2, 0, 1, 2])
  })

  it('[GW10] a model whose breaker is open is passed over', async () => {
    const router = createCallRouter({ rates: unlimited, keysOf: () => 1, clock: () => performance.now() })
    router.enter(model('a'), new Set())?.ended(failure('a', 'transient', 5_000))
    const { calls, attempts, result } = attempt({ a: [], b: ['yes'] }, { router })
    await result
    expect(attempts).toMatchObject([
      { model: 'a', outcome: 'skipped' },
      { model: 'b', outcome: 'answered' },
    ])
    expect(calls).toEqual(['b'])
  })

  it('[GW10] a model that may be called again soon is waited for', async () => {
    const router = createCallRouter({ rates: unlimited, keysOf: () => 1, clock: () => performance.now() })
    router.enter(model('a'), new Set())?.ended(failure('a', 'transient', 100))
    const { calls, result } = attempt({ a: ['yes'], b: [] }, { router })
    expect((await result).model.key).toBe('a')
    expect(calls).toEqual(['a'])
  })

  it('[GW10] when only paused models are left, the failure says how long', async () => {
    const router = createCallRouter({ rates: unlimited, keysOf: () => 1, clock: () => performance.now() })
    router.enter(model('a'), new Set())?.ended(failure('a', 'transient', 60_000))
    await expect(attempt({ a: [] }, { router }).result).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retryAfterSeconds: 60, attempts: [{ outcome: 'skipped' }] },
    })
  })

  it('[GW22] a model whose minute is full is passed over, and when it is the last the wait is told', async () => {
    const rates = createModelRates({ limits: { a: { requests: 1 } }, clock: () => 1_000_000 })
    const router = createCallRouter({ rates, keysOf: () => 1, clock: () => 1_000_000 })
    expect((await attempt({ a: ['yes'], b: [] }, { router }).result).model.key).toBe('a')
    const { calls, result } = attempt({ a: [], b: ['yes'] }, { router })
    expect((await result).model.key).toBe('b')
    expect(calls).toEqual(['b'])
    await expect(attempt({ a: [] }, { router }).result).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { kind: 'model', retryAfterSeconds: 61, attempts: [{ outcome: 'skipped' }] },
    })
  })

  it('[GW6] a fault of ours is no reason to ask another model', async () => {
    const { calls, result } = attempt(
      { a: [], b: ['yes'] },
      {
        call: () => Promise.reject(new TypeError('a bug')),
      },
    )
    await expect(result).rejects.toThrow(TypeError)
    expect(calls).toEqual([])
  })
})

import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { ProviderError } from './provider-error.ts'
import { guardModel } from './stream-guard.ts'

type Part = LanguageModelV4StreamPart
/** `'hang'`: nothing more comes; an Error: the connection breaks. */
type Step = Part | 'hang' | Error

const origin = { provider: 'scripted', model: 'm' }
const patient = { firstPart: 60_000, idle: 60_000, total: 60_000 }
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'q' }] }]
const start: Part = { type: 'text-start', id: '0' }
const text = (delta: string): Part => ({ type: 'text-delta', id: '0', delta })
const toolCall: Part = { type: 'tool-call', toolCallId: 't', toolName: 'run', input: '{"a":' }
const finish = (unified: LanguageModelV4FinishReason['unified'], raw?: string): Part => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
})

/** A provider package that plays a script and then ends its stream without a word. */
function scripted(steps: Step[]): { model: LanguageModelV4; closed: Promise<unknown> } {
  const { promise: closed, resolve: close } = Promise.withResolvers<unknown>()
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: ({ abortSignal }) => hang(abortSignal),
    doStream: async () => {
      const left = steps.values()
      const stream = new ReadableStream<Part>({
        pull(controller) {
          const step = left.next().value
          if (step === undefined) controller.close()
          else if (step instanceof Error) controller.error(step)
          else if (step !== 'hang') controller.enqueue(step)
          else return new Promise(() => {})
        },
        cancel: close,
      })
      return { stream, request: { body: 'the prompt' } }
    },
  }
  return { model, closed }
}

function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}

async function play(steps: Step[], limits = patient): Promise<Part[]> {
  const { stream } = await guardModel(scripted(steps).model, { limits, origin }).doStream({ prompt })
  return Array.fromAsync(stream)
}

/** What a reader is told at the end: the finish reason and the error before it. */
function endOf(parts: Part[]): [finish: string | undefined, error: string | undefined] {
  const last = parts.at(-1)
  const error = parts.find((part) => part.type === 'error')?.error
  return [
    last?.type === 'finish' ? last.finishReason.unified : last?.type,
    error instanceof ProviderError ? `${error.kind}/${error.reason}` : undefined,
  ]
}

const textOf = (parts: Part[]) => parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')

describe('a guarded stream', () => {
  it.each([
    ['stop', finish('stop', 'stop')],
    ['length', finish('length', 'MAX_TOKENS')],
    ['stop', finish('stop')],
    ['other', finish('other', 'compaction')],
  ])('[MOD15] is complete when the provider says so: %s', async (unified, end) => {
    const parts = await play([start, text('a'), text('b'), end])
    expect(textOf(parts)).toBe('ab')
    expect(endOf(parts)).toEqual([unified, undefined])
  })

  it.each<[string, Step[]]>([
    ['ends without a finish', []],
    ['finishes as interrupted', [finish('interrupted')]],
    ['finishes for no stated reason', [finish('other')]],
    ['finishes as failed for no stated reason', [finish('error')]],
  ])('[MOD15] that %s is interrupted', async (_, ending) => {
    const parts = await play([start, text('half'), ...ending])
    expect(textOf(parts)).toBe('half')
    expect(endOf(parts)).toEqual(['interrupted', 'transient/incomplete_stream'])
    expect(parts.filter((part) => part.type === 'finish')).toHaveLength(1)
  })

  it('[MOD15] whose connection breaks is interrupted', async () => {
    const broken = new TypeError('terminated', {
      cause: Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }),
    })
    expect(endOf(await play([start, text('half'), broken]))).toEqual([
      'interrupted',
      'transient/UND_ERR_SOCKET',
    ])
  })

  it('[MOD15] that reports a failure ends there, even if more comes', async () => {
    const parts = await play([
      start,
      text('half'),
      { type: 'error', error: { type: 'overloaded_error' } },
      text('more'),
      finish('stop', 'stop'),
    ])
    expect(textOf(parts)).toBe('half')
    expect(endOf(parts)).toEqual(['error', 'transient/overloaded_error'])
  })

  it.each<[string, Step[], string]>([
    ['ends', [start], 'empty_stream'],
    ['is interrupted', [start, finish('interrupted')], 'incomplete_stream'],
    ['reports a failure', [start, { type: 'error', error: { type: 'server_error' } }], 'server_error'],
  ])('[MOD15] that %s before its first content is rejected', async (_, steps, reason) => {
    await expect(play(steps)).rejects.toMatchObject({ name: 'ProviderError', reason })
  })

  it('[MOD15] may have no content at all, if the provider says that this is the answer', async () => {
    expect(endOf(await play([finish('stop', 'stop')]))).toEqual(['stop', undefined])
  })

  it('[MOD17] passes a tool call on with a complete answer only', async () => {
    const calls = (parts: Part[]) => parts.filter((part) => part.type === 'tool-call').length
    expect(calls(await play([text('a'), toolCall, finish('tool-calls', 'tool_use')]))).toBe(1)
    expect(calls(await play([text('a'), toolCall]))).toBe(0)
  })

  it.each<[string, Step[], Partial<typeof patient>, string]>([
    ['its first part', [start, 'hang'], { firstPart: 20 }, 'first_part_timeout'],
    ['everything', [start, 'hang'], { total: 20 }, 'total_timeout'],
  ])('[MOD16] that takes too long for %s is rejected', async (_, steps, limit, reason) => {
    await expect(play(steps, { ...patient, ...limit })).rejects.toMatchObject({ kind: 'timeout', reason })
  })

  it.each<[string, Partial<typeof patient>]>([
    ['idle_timeout', { idle: 20 }],
    ['total_timeout', { total: 40 }],
  ])('[MOD16] that falls silent is interrupted: %s', async (reason, limit) => {
    const parts = await play([text('half'), 'hang'], { ...patient, ...limit })
    expect(textOf(parts)).toBe('half')
    expect(endOf(parts)).toEqual(['interrupted', `timeout/${reason}`])
  })

  it('[MOD16] pings of a thinking model are no silence', async () => {
    const pings = Array.from({ length: 5 }, (): Part => ({ type: 'ping' }))
    expect(
      endOf(await play([text('a'), ...pings, finish('stop', 'stop')], { ...patient, idle: 1000 })),
    ).toEqual(['stop', undefined])
  })

  it('[MOD15] a whole answer without content that is not said to be complete is rejected', async () => {
    const answer = (raw: string | undefined): LanguageModelV4 => ({
      ...scripted([]).model,
      doGenerate: async () => {
        const { usage } = finish('other') as Extract<Part, { type: 'finish' }>
        return { content: [], finishReason: { unified: 'other', raw }, usage, warnings: [] }
      },
    })
    const guarded = (raw: string | undefined) => guardModel(answer(raw), { limits: patient, origin })
    await expect(guarded(undefined).doGenerate({ prompt })).rejects.toMatchObject({ reason: 'empty_answer' })
    expect(await guarded('SAFETY').doGenerate({ prompt })).toMatchObject({ content: [] })
  })

  it('[MOD16] a whole answer has the total limit', async () => {
    const { model } = scripted([])
    const guarded = guardModel(model, { limits: { ...patient, firstPart: 1, total: 20 }, origin })
    await expect(guarded.doGenerate({ prompt })).rejects.toMatchObject({
      kind: 'timeout',
      reason: 'total_timeout',
    })
  })

  it('[MOD18] errors with the reason of the caller, and closes what is behind it', async () => {
    const { model, closed } = scripted([text('half'), 'hang'])
    const controller = new AbortController()
    const guarded = guardModel(model, { limits: patient, origin })
    const { stream } = await guarded.doStream({ prompt, abortSignal: controller.signal })
    const reader = stream.getReader()
    await reader.read()
    const reason = new Error('the person pressed stop')
    const next = reader.read()
    controller.abort(reason)
    await expect(next).rejects.toBe(reason)
    await closed
  })

  it('[MOD18] is not even begun with an aborted signal', async () => {
    const reason = new Error('gone')
    const guarded = guardModel(scripted([text('a')]).model, { limits: patient, origin })
    await expect(guarded.doStream({ prompt, abortSignal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(guarded.doGenerate({ prompt, abortSignal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it('[MOD18] that its reader leaves is closed', async () => {
    const { model, closed } = scripted([text('half'), 'hang'])
    const { stream } = await guardModel(model, { limits: patient, origin }).doStream({ prompt })
    await stream.cancel()
    await closed
  })

  it('[MOD14] shows nothing of the request', async () => {
    const result = await guardModel(scripted([text('a')]).model, { limits: patient, origin }).doStream({
      prompt,
    })
    expect(JSON.stringify(Object.keys(result))).not.toContain('request')
  })
})

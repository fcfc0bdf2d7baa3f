import { inspect } from 'node:util'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type MockProviders, mockKey, type ProviderFault, startMockProviders } from '@atelier/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { costOf } from '../../packages/server/src/platform/models/cost.ts'
import { createModels, type Models } from '../../packages/server/src/platform/models/models.ts'
import { ModelsEnvironment } from '../../packages/server/src/platform/models/models-environment.ts'
import { ProviderError } from '../../packages/server/src/platform/models/provider-error.ts'
import { noUsage, usageFrom } from '../../packages/server/src/platform/models/usage.ts'

/** One model for each wire protocol, and OpenAI's second one. */
const protocols = [
  { name: 'OpenAI chat completions', key: 'gpt-6-luna', protocol: 'openai', responses: false },
  { name: 'OpenAI responses', key: 'gpt-6-luna', protocol: 'openai', responses: true },
  { name: 'Anthropic messages', key: 'claude-haiku-5-5', protocol: 'anthropic', responses: false },
  { name: 'Google generateContent', key: 'gemini-3.8-flash', protocol: 'google', responses: false },
] as const

const question = 'what does the quick fox do?'
const reply = 'The quick brown fox jumps over the lazy dog and runs away into the deep dark forest.'
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: question }] }]

let mock: MockProviders
let chat: Models
let responses: Models

/** milliseconds that the clock is ahead, to make servers be looked for again */
let moved = 0

beforeAll(async () => {
  mock = await startMockProviders()
  const create = (extra: Record<string, string>) =>
    createModels({
      environment: ModelsEnvironment.parse({
        ...mock.environment,
        MODEL_FIRST_TOKEN_TIMEOUT_SECONDS: '1',
        MODEL_IDLE_TIMEOUT_SECONDS: '1',
        MODEL_TOTAL_TIMEOUT_SECONDS: '2',
        ...extra,
      }),
      clock: () => Date.now() + moved,
      logger: { info() {} },
    })
  chat = create({ EMBEDDING_MODEL: 'openai/text-embedding-3-small' })
  responses = create({ OPENAI_API: 'responses' })
  mock.answer(question, {
    content: reply,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 600 },
      input_tokens: 1000,
      output_tokens: 50,
      promptTokenCount: 1000,
      candidatesTokenCount: 50,
    },
  })
})
afterEach(() => mock.heal())
afterAll(async () => {
  await chat[Symbol.asyncDispose]()
  await responses[Symbol.asyncDispose]()
  await mock[Symbol.asyncDispose]()
})

function modelOf(row: (typeof protocols)[number]): LanguageModelV4 {
  return (row.responses ? responses : chat).languageModel(row.key)
}

async function read(
  model: LanguageModelV4,
): Promise<{ text: string; finish: string | undefined; error: unknown }> {
  const { stream } = await model.doStream({ prompt })
  let text = ''
  let finish: string | undefined
  let error: unknown
  for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) {
    if (part.type === 'text-delta') text += part.delta
    if (part.type === 'error') error = part.error
    if (part.type === 'finish') finish = part.finishReason.unified
  }
  return { text, finish, error }
}

describe.each(protocols)('$name', (row) => {
  const model = () => modelOf(row)
  const fail = (fault: ProviderFault) => mock.fail(fault, { protocol: row.protocol })

  it('[MOD10] gives the same text, usage and cost, streamed and whole', async () => {
    const whole = await model().doGenerate({ prompt })
    const text = whole.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    expect(text).toBe(reply)
    const { stream } = await model().doStream({ prompt })
    const parts = await Array.fromAsync(stream as AsyncIterable<LanguageModelV4StreamPart>)
    expect(parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')).toBe(reply)
    const finish = parts.find((part) => part.type === 'finish')
    const usages = [whole.usage, finish?.usage].map((usage) =>
      usageFrom(usage, { prompt: question, answer: reply }),
    )
    expect(usages[0]).toEqual(usages[1])
    expect(usages[0]).toMatchObject({ outputTokens: 50, estimated: false })
    const total = (usages[0]?.inputTokens ?? 0) + (usages[0]?.cachedInputTokens ?? 0)
    expect(total).toBe(1000)
    const pricing = chat.find(row.key)?.pricing ?? null
    expect(usages.map((usage) => costOf(usage, pricing))).toEqual([
      expect.stringMatching(/^0\.0+[1-9]\d*$/),
      costOf(usages[0] ?? noUsage, pricing),
    ])
  })

  it.each<[string, ProviderFault]>([
    ['ends', { kind: 'end', after: 7 }],
    ['breaks', { kind: 'cut', after: 7 }],
    ['falls silent', { kind: 'stall', after: 7 }],
  ])('[MOD15] a stream that %s half-way is interrupted and keeps what came', async (_, fault) => {
    fail(fault)
    const { text, finish, error } = await read(model())
    expect(finish).toBe('interrupted')
    expect(error).toBeInstanceOf(ProviderError)
    expect(text.length).toBeGreaterThan(0)
    expect(text.length).toBeLessThan(reply.length)
    expect(reply.startsWith(text)).toBe(true)
  })

  it.each<[string, ProviderFault]>([
    ['reports a failure', { kind: 'error-event', after: 7 }],
    ['is garbled', { kind: 'malformed', after: 7 }],
  ])('[MOD15] a stream that %s half-way ends as failed', async (_, fault) => {
    fail(fault)
    const { text, finish, error } = await read(model())
    expect(finish).toBe('error')
    expect(error).toMatchObject({ kind: 'transient' })
    expect(reply.startsWith(text)).toBe(true)
    expect(text.length).toBeLessThan(reply.length)
  })

  it.each<[string, ProviderFault]>([
    ['ends', { kind: 'end', after: 1 }],
    ['breaks', { kind: 'cut', after: 0 }],
    ['reports a failure', { kind: 'error-event', after: 0 }],
  ])('[MOD15] a stream that %s before its first content is rejected', async (_, fault) => {
    // Google's first event is content already.
    fail(row.protocol === 'google' && 'after' in fault ? { ...fault, after: 0 } : fault)
    await expect(read(model())).rejects.toMatchObject({ name: 'ProviderError', kind: 'transient' })
  })

  it.each<[string, ProviderFault]>([
    ['breaks', { kind: 'cut', after: 0 }],
    ['is cut short', { kind: 'end', after: 0 }],
  ])('[MOD15] a whole answer that %s is rejected', async (_, fault) => {
    fail(fault)
    await expect(model().doGenerate({ prompt })).rejects.toMatchObject({ kind: 'transient' })
  })

  it.each<[string, ProviderFault, object]>([
    ['401', { kind: 'status', status: 401 }, { kind: 'key', status: 401 }],
    [
      '429',
      { kind: 'status', status: 429, retryAfterSeconds: 7 },
      { kind: 'transient', retryAfterMilliseconds: 7000 },
    ],
    ['500', { kind: 'status', status: 500 }, { kind: 'transient', status: 500 }],
    ['400', { kind: 'status', status: 400, message: 'no such parameter' }, { kind: 'request', status: 400 }],
  ])('[MOD13] status %s has its kind, streamed and whole', async (_, fault, expected) => {
    fail(fault)
    await expect(model().doStream({ prompt })).rejects.toMatchObject(expected)
    await expect(model().doGenerate({ prompt })).rejects.toMatchObject(expected)
  })

  it('[MOD14] shows neither key nor prompt in an error', async () => {
    fail({ kind: 'status', status: 400, message: `you sent ${question} with ${mockKey}` })
    const error = await Promise.resolve(model().doGenerate({ prompt })).catch((failure: unknown) => failure)
    const everything = inspect(error, { depth: 10, showHidden: true })
    expect(everything).not.toContain(question)
    expect(everything).not.toContain(mockKey)
  })

  it('[MOD16] a provider that hangs is given up', async () => {
    fail({ kind: 'hang' })
    await expect(model().doStream({ prompt })).rejects.toMatchObject({ kind: 'timeout', code: 'TIMEOUT' })
  })

  it('[MOD18] an abort rejects with its reason', async () => {
    fail({ kind: 'hang' })
    const controller = new AbortController()
    const asked = model().doStream({ prompt, abortSignal: controller.signal })
    const reason = new Error('stop')
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })
})

describe('models', () => {
  it('[MOD1, MOD8] send the name that a key stands for, with the configured key', async () => {
    await chat.languageModel('gpt-oss-20b').doGenerate({ prompt })
    expect(mock.requests.at(-1)).toMatchObject({ body: { model: 'openai/gpt-oss-20b' }, key: mockKey })
    await chat.languageModel('claude-haiku-5-5').doGenerate({ prompt })
    expect(mock.requests.at(-1)).toMatchObject({ path: '/v1/messages', key: mockKey })
  })

  it('[MOD5] are refused without a key, and when nobody knows them', () => {
    expect(() => chat.languageModel('grok-4.7')).toThrow(expect.objectContaining({ kind: 'key' }))
    expect(() => chat.languageModel('nobody')).toThrow(
      expect.objectContaining({ kind: 'request', reason: 'model_not_found' }),
    )
  })

  it('[MOD5] `local` answers through the same seam', async () => {
    const { text, finish } = await read(chat.languageModel('local'))
    expect(finish).toBe('stop')
    expect(text).toContain('There is no code with this question')
  })

  it('[MOD11] of an OpenAI-compatible server are found and answer', async () => {
    // A look takes at most half a second, which a busy machine may need more than one of.
    const look = async () => {
      moved += 31_000
      const { models } = await chat.freshCatalog()
      return models.find((model) => model.provider === 'openai-compatible')
    }
    await expect.poll(look).toMatchObject({ available: true, pricing: null })
    const found = chat.catalog().models.find((model) => model.provider === 'openai-compatible')
    const { text } = await read(chat.languageModel(found?.key ?? ''))
    expect(text).toBe(reply)
  })

  it('[MOD24] embed texts', async () => {
    const [first, second] =
      (await chat.embedder?.embed(['alpha', 'beta'], 'document', new AbortController().signal)) ?? []
    expect(first).toHaveLength(1536)
    expect(first).not.toEqual(second)
    mock.fail({ kind: 'status', status: 401 }, { times: 1 })
    await expect(chat.embedder?.embed(['x'], 'query', new AbortController().signal)).rejects.toMatchObject({
      kind: 'key',
    })
  })
})

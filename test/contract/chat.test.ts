import { createHash } from 'node:crypto'
import { type Client, createClient } from '@atelier/client'
import {
  type Body,
  chat,
  chatEnhanced,
  createWorkspace,
  listModels,
  listProviderHealth,
  uploadFiles,
} from '@atelier/contract'
import {
  type MockProviders,
  mockKey,
  type ProviderFault,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const question = 'What does the quick fox do?'
const reply = 'The quick brown fox jumps over the lazy dog and runs away into the deep dark forest.'

/** Models of each wire protocol; faults are spread over them, since a model that fails often is not called any more. */
const protocols = [
  {
    protocol: 'openai' as const,
    models: ['gpt-6.2-astra', 'gpt-6.2-sol', 'gpt-6.1-sol', 'gpt-6.1-terra'],
    priced: 'gpt-6-luna',
    provider: 'openai/gpt-6-luna',
    usage: { inputTokens: 1000, cachedInputTokens: 0 },
    cost: '0.000125',
  },
  {
    protocol: 'anthropic' as const,
    models: ['claude-fable-5-2', 'claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
    priced: 'claude-haiku-5-5',
    provider: 'anthropic/claude-haiku-5-5',
    usage: { inputTokens: 1000, cachedInputTokens: 0 },
    cost: '0.000125',
  },
  {
    protocol: 'google' as const,
    models: ['gemini-4-argon', 'gemini-4-hydrogen', 'gemini-3.8-flash', 'gemini-3.5-flash-lite'],
    priced: 'gemini-3.8-flash',
    provider: 'google/gemini-3.8-flash',
    usage: { inputTokens: 1000, cachedInputTokens: 0 },
    cost: '0.0009375',
  },
]

let mock: MockProviders
let server: TestServer
let client: Client
let strangersWorkspace: string

beforeAll(async () => {
  mock = await startMockProviders()
  mock.answer(question, {
    content: reply,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 50,
      input_tokens: 1000,
      output_tokens: 50,
      promptTokenCount: 1000,
      candidatesTokenCount: 50,
    },
  })
  server = await startTestServer({
    environment: {
      ...mock.environment,
      MODEL_FIRST_TOKEN_TIMEOUT_SECONDS: '1',
      MODEL_IDLE_TIMEOUT_SECONDS: '1',
      MODEL_TOTAL_TIMEOUT_SECONDS: '2',
    },
  })
  client = await clientOf(server)
  const stranger = await clientOf(server)
  strangersWorkspace = (await stranger.call(createWorkspace, { body: { name: 'Not yours' } })).id
})
afterEach(() => mock.heal())
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await mock[Symbol.asyncDispose]()
})

async function clientOf({ url }: TestServer): Promise<Client> {
  const { headers } = await signUpPerson(url)
  return createClient({ baseUrl: url, headers, validateAnswers: true })
}

async function stream(body: Body<typeof chatEnhanced>, from = client) {
  const { headers, events } = await from.stream(chatEnhanced, { body })
  const chunks = []
  for await (const { event } of events) chunks.push(event)
  const content = chunks.map((chunk) => ('content' in chunk ? chunk.content : '')).join('')
  return {
    headers,
    content,
    last: chunks.at(-1),
    terminals: chunks.filter((chunk) => 'done' in chunk).length,
  }
}

const ask = (body: Body<typeof chat>) => client.call(chat, { body })
const messages = [{ role: 'user' as const, content: question }]

describe.each(protocols)(
  'the $protocol wire protocol',
  ({ protocol, models, priced, provider, usage, cost }) => {
    const [refused = '', limited = '', failing = '', silent = ''] = models
    const fail = (fault: ProviderFault, times?: number) =>
      mock.fail(fault, { protocol, ...(times && { times }) })

    it('[CHAT2, CHAT4, CHAT19] an answer is streamed with its usage and its cost', async () => {
      const { headers, content, last, terminals } = await stream({ message: question, model: priced })
      expect(headers.get('x-model-used')).toBe(priced)
      expect(headers.get('x-provider')).toBe(provider)
      expect(content).toBe(reply)
      expect(terminals).toBe(1)
      expect(last).toMatchObject({
        done: true,
        finishReason: 'stop',
        finalTokenCount: 50,
        usage: { ...usage, outputTokens: 50, reasoningTokens: 0, estimated: false },
        cost,
        attempts: [{ model: priced, outcome: 'answered' }],
      })
    })

    it('[CHAT19] an answer that is sent whole has the same', async () => {
      const answer = await ask({ messages, model: priced })
      expect(answer).toMatchObject({
        message: { content: reply },
        provider,
        finishReason: 'stop',
        usage,
        cost,
      })
    })

    it('[CHAT17] 401 of a provider is 502 and names the kind, not the key', async () => {
      fail({ kind: 'status', status: 401 })
      const refusal = await stream({ message: question, model: refused }).catch((error: unknown) => error)
      expect(refusal).toMatchObject({
        status: 502,
        code: 'PROVIDER_ERROR',
        details: { kind: 'key', status: 401 },
      })
      expect(JSON.stringify(refusal)).not.toContain(mockKey)
    })

    it('[CHAT17, GW5] 429 without end is 502 after three calls', async () => {
      fail({ kind: 'status', status: 429 })
      const before = mock.requests.length
      await expect(stream({ message: question, model: limited })).rejects.toMatchObject({
        status: 502,
        details: { kind: 'transient', status: 429 },
      })
      expect(mock.requests.length - before).toBe(3)
    })

    it('[GW5, GW12] 429 with Retry-After is waited for, and the answer comes', async () => {
      fail({ kind: 'status', status: 429, retryAfterSeconds: 1 }, 1)
      const started = performance.now()
      expect((await stream({ message: question, model: limited })).content).toBe(reply)
      expect(performance.now() - started).toBeGreaterThanOrEqual(1_000)
    })

    it('[GW5] 500 once is not seen', async () => {
      fail({ kind: 'status', status: 500 }, 1)
      expect(await stream({ message: question, model: failing })).toMatchObject({
        content: reply,
        last: { attempts: [{ outcome: 'transient' }, { outcome: 'answered' }] },
      })
    })

    it.each(['cut', 'end'] as const)(
      '[CHAT4] a stream that breaks half-way is interrupted: %s',
      async (kind) => {
        fail({ kind, after: 6 })
        const { content, last, terminals } = await stream({ message: question, model: failing })
        expect(reply.startsWith(content)).toBe(true)
        expect(content).not.toBe('')
        expect(content).not.toBe(reply)
        expect(terminals).toBe(1)
        expect(last).toMatchObject({
          done: true,
          finishReason: 'interrupted',
          error: { code: 'PROVIDER_ERROR' },
        })
      },
    )

    it('[CHAT4] a stream that falls silent is interrupted by the time limit', async () => {
      fail({ kind: 'stall', after: 6 })
      const { last, terminals } = await stream({ message: question, model: silent })
      expect(terminals).toBe(1)
      expect(last).toMatchObject({ done: true, finishReason: 'interrupted', error: { code: 'TIMEOUT' } })
    })

    it('[CHAT17] a provider that hangs is 504', async () => {
      fail({ kind: 'hang' })
      await expect(stream({ message: question, model: silent })).rejects.toMatchObject({
        status: 504,
        code: 'TIMEOUT',
      })
      await expect(ask({ messages, model: silent })).rejects.toMatchObject({ status: 504, code: 'TIMEOUT' })
    })

    it('[CHAT4] an error event inside a stream ends it as an error', async () => {
      fail({ kind: 'error-event', after: 6 })
      const { last, terminals } = await stream({ message: question, model: limited })
      expect(terminals).toBe(1)
      expect(last).toMatchObject({ done: true, finishReason: 'error', error: { code: 'PROVIDER_ERROR' } })
    })
  },
)

describe('a conversation', () => {
  it('[CHAT5] goes on when the model and its family change at every turn', async () => {
    const previousMessages: Body<typeof chat>['messages'] = []
    for (const [turn, { priced }] of [...protocols, ...protocols.toReversed()].entries()) {
      const message = `Turn ${turn}?`
      mock.answer(message, { content: `Answer ${turn}.` })
      const { content } = await stream({ message, model: priced, context: { previousMessages } })
      expect(content).toBe(`Answer ${turn}.`)
      const body = JSON.stringify(mock.requests.at(-1)?.body)
      for (const earlier of previousMessages) expect(body).toContain(earlier.content)
      previousMessages.push({ role: 'user', content: message }, { role: 'assistant', content })
    }
  })
})

describe('a request that is wrong', () => {
  const calls = async (work: () => Promise<unknown>) => {
    const before = mock.requests.length
    await work()
    return mock.requests.length - before
  }

  it.each([
    ['[GW2] an unknown model', { message: question, model: 'nobody' }, 'model'],
    ['[CHAT9] a message of a megabyte', { message: 'x'.repeat(1 << 20), model: 'gpt-6-luna' }, 'message'],
    ['[HTTP3] an unknown property', { message: question, model: 'gpt-6-luna', tempo: 1 }, 'tempo'],
    ['[CHAT7] an empty message', { message: ' ', model: 'gpt-6-luna' }, 'message'],
  ])('%s is 400 by name, and no provider hears of it', async (_, body, field) => {
    expect(
      await calls(async () => {
        await expect(stream(body)).rejects.toMatchObject({
          status: 400,
          code: 'VALIDATION_ERROR',
          details: { field },
        })
      }),
    ).toBe(0)
  })

  it('[CHAT16] another person’s workspace is 404, and no provider hears of it', async () => {
    const body = { message: question, model: 'gpt-6-luna', context: { workspaceId: strangersWorkspace } }
    expect(
      await calls(async () => {
        await expect(stream(body)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' })
        await expect(ask({ messages, workspaceId: strangersWorkspace })).rejects.toMatchObject({
          status: 404,
        })
      }),
    ).toBe(0)
  })
})

describe('an answer about a workspace', () => {
  const lines = [
    '/** Adds the tax of a country to a price. */',
    'export function addTax(price: number, country: string): number {',
    '  return price * (1 + rateOf(country))',
    '}',
    '',
  ]
  let workspaceId: string

  beforeAll(async () => {
    workspaceId = (await client.call(createWorkspace, { body: { name: 'Shop' } })).id
    const form = new FormData()
    form.append('workspaceId', workspaceId)
    form.append('files', new File([lines.join('\n')], 'src/tax.ts'))
    form.append('files', new File(['export const title = "Shop"\n'], 'src/title.ts'))
    await client.call(uploadFiles, { form })
  })

  it('[CHAT6, CHAT10, CHAT13, CHAT15] is grounded in numbered passages and cites them with their hash', async () => {
    const message = 'Where is addTax, which adds the tax of a country?'
    mock.answer(/addTax, which adds/, { content: 'In [src/tax.ts:2-4] and [src/made-up.ts:1-2].' })
    const { headers, last } = await stream({ message, model: 'gpt-6-luna', context: { workspaceId } })
    expect(headers.get('x-rag-status')).toBe('active')
    const body = JSON.stringify(mock.requests.at(-1)?.body)
    expect(body).toContain('2| export function addTax(price: number, country: string): number {')
    expect(body).toMatch(/=== BEGIN [0-9a-f]{32}/)
    const contentSha256 = createHash('sha256').update(lines.join('\n')).digest('hex')
    expect(last).toMatchObject({
      ragContext: { workspaceId },
      citations: [{ path: 'src/tax.ts', startLine: 2, endLine: 4, contentSha256 }],
    })
  })

  it('[CHAT10, CHAT14] the local model answers from the same passages, and a named file is among them', async () => {
    const message = 'What does addTax do?'
    const context = { workspaceId, files: ['src/title.ts', 'src/gone.ts'] }
    const { headers, content, last } = await stream({ message, model: 'local', context })
    expect(headers.get('x-rag-status')).toBe('active')
    expect(content).toContain('src/tax.ts')
    const citations = last && 'citations' in last ? last.citations : []
    expect(citations.map(({ path }) => path)).toContain('src/tax.ts')
  })

  it('[CHAT15] nothing relevant is inactive', async () => {
    const message = 'zyxwvut qponmlk?'
    const { headers, last } = await stream({ message, model: 'gpt-6-luna', context: { workspaceId } })
    expect(headers.get('x-rag-status')).toBe('inactive')
    expect(last).toMatchObject({ ragContext: { workspaceId, relevanceScore: null }, citations: [] })
  })

  it('[CHAT16] its viewers may ask, strangers may not', async () => {
    const stranger = await clientOf(server)
    const body = { message: question, model: 'gpt-6-luna', context: { workspaceId } }
    await expect(stream(body, stranger)).rejects.toMatchObject({ status: 404 })
  })
})

describe('models', () => {
  it('[GW1] are listed with price, window and availability, and recommended by task', async () => {
    const { models, providers, recommended, recommendedNow } = await client.call(listModels)
    expect(models.length).toBeGreaterThanOrEqual(12)
    expect(new Set(models.map(({ family }) => family)).size).toBeGreaterThanOrEqual(5)
    expect(providers.map(({ id }) => id)).toEqual(expect.arrayContaining(['openai', 'anthropic', 'google']))
    for (const { priced } of protocols) {
      expect(models.find(({ key }) => key === priced)).toMatchObject({ available: true })
    }
    expect(Object.keys(recommended).sort()).toEqual(['coding', 'cost', 'reasoning', 'speed'])
    expect(recommendedNow).toEqual(recommended)
  })

  it('[GW20] provider health shows what the faults above did', async () => {
    const { items } = await client.call(listProviderHealth)
    for (const { protocol } of protocols) {
      const health = items.find(({ id }) => id === protocol)
      expect(health).toMatchObject({ configured: true })
      expect(health?.calls).toBeGreaterThan(0)
      expect(health?.lastError).not.toBeNull()
      expect(health?.latency?.samples).toBeGreaterThan(0)
    }
  })
})

describe('several keys of a provider', () => {
  it('[GW14] are used in turn, and one that is refused is left alone', async () => {
    await using several = await startTestServer({
      environment: { ...mock.environment, OPENAI_API_KEY: 'first-key, second-key' },
    })
    const person = await clientOf(several)
    const from = mock.requests.length
    for (let round = 0; round < 4; round += 1)
      await stream({ message: question, model: 'gpt-6-luna' }, person)
    const keys = () => mock.requests.slice(from).map(({ key }) => key)
    expect(keys()).toEqual(['first-key', 'second-key', 'first-key', 'second-key'])
    mock.fail({ kind: 'status', status: 401 }, { times: 1 })
    for (let round = 0; round < 3; round += 1) {
      expect((await stream({ message: question, model: 'gpt-6-luna' }, person)).content).toBe(reply)
    }
    expect(keys().slice(4)).toEqual(['first-key', 'second-key', 'second-key', 'second-key'])
    const { items } = await person.call(listProviderHealth)
    expect(items.find(({ id }) => id === 'openai')).toMatchObject({ keys: 2, breaker: 'open' })
  })
})

describe('without any key', () => {
  it('[GW3, GW4] every model degrades to the local one, which is also the usual one', async () => {
    await using keyless = await startTestServer({ environment: { LOCAL_MODEL_DISCOVERY: 'off' } })
    const person = await clientOf(keyless)
    const { headers, content, last } = await stream({ message: question, model: 'gpt-6-luna' }, person)
    expect(headers.get('x-model-used')).toBe('local')
    expect(headers.get('x-provider')).toBe('atelier/local')
    expect(content).toMatch(/^> \*\*.+\*\* cannot be used here/)
    expect(last).toMatchObject({ done: true, finishReason: 'stop', cost: '0', usage: { estimated: true } })
    const usual = await person.call(chat, { body: { messages } })
    expect(usual).toMatchObject({ model: 'local', cost: '0' })
    expect((await person.call(listModels)).recommendedNow.coding).toBe('local')
  })
})

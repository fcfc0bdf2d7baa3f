import { createOpenAI } from '@ai-sdk/openai'
import { createClient } from '@atelier/client'
import { readUsage } from '@atelier/contract'
import {
  type MockProviders,
  type Person,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const question = 'What does the quick fox do?'
const reply = 'The quick brown fox jumps over the lazy dog and runs away into the deep dark forest.'
const messages = [{ role: 'user' as const, content: question }]

/** One model of each wire protocol that stands behind OpenAI's dialect. */
const models = [
  ['OpenAI', 'gpt-6-luna'],
  ['Anthropic', 'claude-haiku-5-5'],
  ['Google', 'gemini-3.8-flash'],
] as const

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

let mock: MockProviders
let server: TestServer
let person: Person
let key: string
let openai: OpenAI

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
  mock.answer('What is the weather in Paris?', {
    content: '',
    toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }],
  })
  server = await startTestServer({
    environment: {
      ...mock.environment,
      MODEL_FIRST_TOKEN_TIMEOUT_SECONDS: '1',
      MODEL_TOTAL_TIMEOUT_SECONDS: '3',
    },
  })
  person = await signUpPerson(server.url)
  key = await person.apiKey({ scopes: ['ai'] })
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries: 0 })
})
afterEach(() => mock.heal())
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await mock[Symbol.asyncDispose]()
})

describe.each(models)('OpenAI’s own client, with %s behind', (_, model) => {
  it('[V1] gets a whole answer with its usage', async () => {
    const completion = await openai.chat.completions.create({ model, messages })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ message: { role: 'assistant', content: reply }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 },
    })
  })

  it('[V1] gets a streamed answer with its usage', async () => {
    const stream = await openai.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(reply)
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop'])
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 1000, completion_tokens: 50 },
    })
  })

  it('[V2] lets the model call its functions, whole and streamed, and gives it their answers', async () => {
    const asked = [{ role: 'user' as const, content: 'What is the weather in Paris?' }]
    const whole = await openai.chat.completions.create({ model, messages: asked, tools: [weather] })
    expect(whole.choices[0]?.finish_reason).toBe('tool_calls')
    const [call] = whole.choices[0]?.message.tool_calls ?? []
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Paris"}' },
    })
    const stream = openai.chat.completions.stream({ model, messages: asked, tools: [weather] })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: '{"city":"Paris"}' },
    })
    if (call === undefined) throw new Error('no call')
    mock.answer('And now?', { content: 'Sunny.' })
    const next = await openai.chat.completions.create({
      model,
      tools: [weather],
      messages: [
        ...asked,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: 'sunny, 21 degrees' },
        { role: 'user', content: 'And now?' },
      ],
    })
    expect(next.choices[0]?.message.content).toBe('Sunny.')
    expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain('sunny, 21 degrees')
  })

  it('[V3] sees a stream that breaks off as a failure', async () => {
    mock.fail({ kind: 'cut', after: 6 }, { times: 1 })
    const stream = await openai.chat.completions.create({ model, messages, stream: true })
    await expect(Array.fromAsync(stream)).rejects.toThrow(OpenAI.APIError)
  })

  it('[V3] sees a provider’s refusal with its status, in OpenAI’s shape', async () => {
    mock.fail({ kind: 'status', status: 400, message: 'bad' }, { times: 1 })
    await expect(openai.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 502,
      type: 'server_error',
    })
  })
})

describe('requests of OpenAI’s dialect', () => {
  const raw = (body: unknown, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  it('[V4] settings reach the model', async () => {
    await openai.chat.completions.create({
      model: 'gpt-6-luna',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        ...messages,
      ],
      max_completion_tokens: 77,
      stop: ['END'],
      seed: 7,
    })
    const body = JSON.stringify(mock.requests.at(-1)?.body)
    expect(body).toContain('77')
    expect(body).toContain('END')
    expect(body).toContain('Be brief.\\n\\nBe kind.')
  })

  it('[V4] a provider-qualified model name is understood', async () => {
    const completion = await openai.chat.completions.create({ model: 'openai/gpt-6-luna', messages })
    expect(completion.model).toBe('gpt-6-luna')
  })

  it('[V4] properties that nobody knows are ignored', async () => {
    expect((await raw({ model: 'gpt-6-luna', messages, new_thing: { a: 1 } })).status).toBe(200)
  })

  it.each([
    ['no messages', { model: 'gpt-6-luna', messages: [] }, 400, 'messages'],
    [
      'an unknown role',
      { model: 'gpt-6-luna', messages: [{ role: 'robot', content: 'x' }] },
      400,
      'messages.0.role',
    ],
    ['two answers', { model: 'gpt-6-luna', messages, n: 2 }, 400, 'n'],
    [
      'an image from elsewhere',
      {
        model: 'gpt-6-luna',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x' } }] }],
      },
      400,
      'messages.0.content',
    ],
    [
      'the answer of a tool that was not called',
      { model: 'gpt-6-luna', messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] },
      400,
      'messages.0.tool_call_id',
    ],
    ['an unknown model', { model: 'nobody', messages }, 404, 'model'],
  ])('[V3] %s is refused by name, in OpenAI’s shape', async (_, body, status, param) => {
    const response = await raw(body)
    expect(response.status).toBe(status)
    const { error } = (await response.json()) as { error: { type: string; param: string; message: string } }
    expect(error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) })
    expect(error.param.startsWith(param)).toBe(true)
  })

  it('[V3] a model without a key is an error, not another model', async () => {
    await expect(openai.chat.completions.create({ model: 'grok-4.7', messages })).rejects.toMatchObject({
      status: 503,
      code: 'model_not_available',
    })
  })

  it('[V5] a key goes into Authorization or x-api-key; without one it is 401, without its scope 403', async () => {
    const body = { model: 'gpt-6-luna', messages }
    expect((await raw(body, { 'x-api-key': key })).status).toBe(200)
    const missing = await raw(body, {})
    expect(missing.status).toBe(401)
    expect(await missing.json()).toMatchObject({
      error: { type: 'authentication_error', code: 'invalid_api_key' },
    })
    expect((await raw(body, { authorization: 'Bearer atl_wrong' })).status).toBe(401)
    const other = await person.apiKey({ scopes: ['files:read'] })
    expect((await raw(body, { authorization: `Bearer ${other}` })).status).toBe(403)
    // Elsewhere a key is no Bearer token.
    const models = await fetch(`${server.url}/api/ai/models`, { headers: { authorization: `Bearer ${key}` } })
    expect(models.status).toBe(401)
  })

  it('[V5] calls are in the ledger under their key', async () => {
    // Somebody of their own: calls of other tests are still being written down.
    const other = await signUpPerson(server.url)
    const apiKey = await other.apiKey({ scopes: ['ai'] })
    const client = createClient({
      baseUrl: server.url,
      headers: { 'x-api-key': apiKey },
      validateAnswers: true,
    })
    const theirs = new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 })
    await theirs.chat.completions.create({ model: 'gpt-6-luna', messages })
    await expect.poll(async () => (await client.call(readUsage)).totals.calls).toBe(1)
  })

  it('[V6] lists what can be used now', async () => {
    const ids = (await Array.fromAsync(openai.models.list())).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(['gpt-6-luna', 'local']))
    expect(ids).not.toContain('grok-4.7')
  })

  it('[V7] embeds with the model of this server, as numbers or base 64', async () => {
    const ids = (await Array.fromAsync(openai.models.list())).map(({ id }) => id)
    const model = ids.at(-1) ?? ''
    const input = ['function add(a, b)', 'a quick fox']
    const usual = await openai.embeddings.create({ model, input })
    const numbers = await openai.embeddings.create({ model, input, encoding_format: 'float' })
    expect(usual.data.map(({ index }) => index)).toEqual([0, 1])
    expect(usual.data[0]?.embedding.length).toBeGreaterThan(100)
    expect(usual.data.map(({ embedding }) => embedding)).toEqual(
      numbers.data.map(({ embedding }) => embedding),
    )
    await expect(openai.embeddings.create({ model: 'nobody', input })).rejects.toMatchObject({
      status: 400,
      param: 'model',
    })
  })
})

describe('a model with limits a minute', () => {
  it('[GW22, V3] is 429 with the time to wait when its requests or tokens are used up', async () => {
    await using limited = await startTestServer({
      environment: { ...mock.environment, MODEL_LIMITS: 'gpt-6-luna=1 requests; claude-haiku-5-5=10 tokens' },
    })
    const apiKey = await (await signUpPerson(limited.url)).apiKey({ scopes: ['ai'] })
    const client = new OpenAI({ baseURL: `${limited.url}/v1`, apiKey, maxRetries: 0 })
    for (const model of ['gpt-6-luna', 'claude-haiku-5-5']) {
      await client.chat.completions.create({ model, messages })
      const refused = await client.chat.completions
        .create({ model, messages })
        .catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(OpenAI.RateLimitError)
      const { headers } = refused as InstanceType<typeof OpenAI.RateLimitError>
      expect(Number(headers?.get('retry-after'))).toBeGreaterThan(10)
    }
    await client.chat.completions.create({ model: 'gemini-3.8-flash', messages })
  })
})

describe('the AI SDK', () => {
  const provider = () => createOpenAI({ baseURL: `${server.url}/v1`, apiKey: key })

  it('[V1] generates and streams with our address as its base', async () => {
    const model = provider().chat('claude-haiku-5-5')
    expect((await generateText({ model, prompt: question })).text).toBe(reply)
    const { textStream, totalUsage } = streamText({ model, prompt: question })
    expect((await Array.fromAsync(textStream)).join('')).toBe(reply)
    expect(await totalUsage).toMatchObject({ inputTokens: 1000, outputTokens: 50 })
  })
})

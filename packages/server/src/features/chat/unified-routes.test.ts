import { type Body, chatUnified, chatWithVendor, listProviderHealth, stopChatStream } from '@atelier/contract'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  brokenAnswer,
  type ChatDatabase,
  type ChatTestServer,
  openChatDatabase,
  readAll,
  refusal,
  startChatTestServer,
  text,
} from './chat-test-server.ts'

const messages = [{ role: 'user' as const, content: 'How are routes matched?' }]

let database: ChatDatabase
let server: ChatTestServer

beforeAll(async () => {
  database = await openChatDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())
beforeEach(async () => {
  server = await startChatTestServer(database, { MODEL_FALLBACKS: 'small=second' })
})
afterEach(() => server[Symbol.asyncDispose]())

const ask = (body: Omit<Body<typeof chatUnified>, 'messages'>) =>
  server.client.call(chatUnified, { body: { messages, ...body } })
const stream = async (body: Omit<Body<typeof chatUnified>, 'messages'>) =>
  readAll(await server.client.stream(chatUnified, { body: { messages, stream: true, ...body } }))

describe('a chain of models', () => {
  it('[GW16] the first that answers does, and every attempt is named', async () => {
    server.scripts.set('test', refusal)
    const answer = await ask({ models: ['keyless', 'test', 'second'] })
    expect(answer).toMatchObject({
      message: { content: expect.stringContaining('Routes') },
      model: 'second',
      provider: 'test/second',
      attempts: [
        { model: 'keyless', outcome: 'unavailable', ms: 0 },
        { model: 'test', outcome: 'transient', status: 500 },
        { model: 'test', outcome: 'transient' },
        { model: 'test', outcome: 'transient' },
        { model: 'second', outcome: 'answered' },
      ],
    })
    expect(answer.message.content).not.toContain('cannot be used')
  })

  it('[GW16] model goes before models, each is tried once, and the configured fallbacks come last', async () => {
    for (const model of ['small', 'test', 'second']) {
      server.scripts.set(model, async function* () {
        yield* []
        throw Object.assign(new Error('no'), { statusCode: 400 })
      })
    }
    await expect(ask({ model: 'small', models: ['test', 'small'] })).rejects.toMatchObject({
      status: 502,
      details: { attempts: [{ model: 'small' }, { model: 'test' }, { model: 'second' }] },
    })
  })

  it('[GW16] a question too long for one model is answered by the next', async () => {
    const long = [{ role: 'user' as const, content: 'word '.repeat(5_000) }]
    const body = { messages: long, models: ['small', 'test'] }
    expect(await server.client.call(chatUnified, { body })).toMatchObject({
      model: 'test',
      attempts: [{ model: 'small', outcome: 'prompt-too-long' }, { model: 'test' }],
    })
  })

  it('[GW2] an unknown model in it is refused by its place', async () => {
    await expect(ask({ models: ['test', 'nobody'] })).rejects.toMatchObject({
      status: 400,
      details: { field: 'models.1' },
    })
  })

  it('[GW17] before the first content a failover is invisible in a stream', async () => {
    server.scripts.set('test', refusal)
    const { headers, chunks, content, last } = await stream({ models: ['test', 'second'] })
    expect(headers.get('x-model-used')).toBe('second')
    expect(content).toMatch(/^Routes/)
    expect(chunks.filter((chunk) => 'done' in chunk)).toHaveLength(1)
    expect(last).toMatchObject({
      finishReason: 'stop',
      attempts: [{}, {}, {}, { model: 'second', outcome: 'answered' }],
    })
  })

  it('[GW17] after it, a stream that breaks off is interrupted', async () => {
    server.scripts.set('test', brokenAnswer)
    const { content, last } = await stream({ models: ['test', 'second'] })
    expect(content).toBe('Half of an answ')
    expect(last).toMatchObject({ done: true, finishReason: 'interrupted' })
    expect(server.asked.map(({ model }) => model)).toEqual(['test'])
  })

  it('[GW18] who asks for it gets a reset and a whole answer of the next model, and pays for both', async () => {
    server.scripts.set('test', brokenAnswer)
    const { chunks, last } = await stream({ models: ['test', 'second'], reset: true })
    const reset = chunks.findIndex((chunk) => 'reset' in chunk)
    expect(chunks[reset]).toMatchObject({ reset: true, model: 'second', provider: 'test/second' })
    const after = chunks.slice(reset + 1).map((chunk) => ('content' in chunk ? chunk.content : ''))
    expect(after.join('')).toBe('Routes are matched in [src/router.ts:12-14].')
    expect(chunks.slice(reset + 1, -1).every((chunk) => 'model' in chunk && chunk.model === 'second')).toBe(
      true,
    )
    expect(last).toMatchObject({ finishReason: 'stop', usage: { estimated: true } })
    expect(last && 'usage' in last && last.usage?.outputTokens).toBeGreaterThan(7)
    expect(chunks.filter((chunk) => 'done' in chunk)).toHaveLength(1)
  })

  it('[GW18] when the last model breaks off too, the stream is interrupted', async () => {
    server.scripts.set('test', brokenAnswer)
    server.scripts.set('second', brokenAnswer)
    const { chunks, last } = await stream({ models: ['test', 'second'], reset: true })
    expect(last).toMatchObject({ done: true, finishReason: 'interrupted' })
    expect(chunks.filter((chunk) => 'reset' in chunk)).toHaveLength(1)
  })
})

describe('models of one vendor', () => {
  const askVendor = (vendor: string, model?: string) =>
    server.client.call(chatWithVendor, { params: { vendor }, body: { messages, ...(model && { model }) } })

  it('[GW19] its recommended model answers, or the one that is named', async () => {
    expect(await askVendor('test')).toMatchObject({ model: 'test' })
    expect(await askVendor('test', 'second')).toMatchObject({ model: 'second' })
  })

  it('[GW19] another vendor’s model is refused, an unknown vendor is 404', async () => {
    await expect(askVendor('test', 'local')).rejects.toMatchObject({
      status: 400,
      details: { field: 'model' },
    })
    await expect(askVendor('nobody')).rejects.toMatchObject({ status: 404 })
  })

  it('[GW19] a vendor without a key degrades like any model', async () => {
    const answer = await askVendor('other')
    expect(answer.model).toBe('local')
    expect(answer.message.content).toMatch(/^> \*\*Model keyless\*\* cannot be used here/)
  })
})

describe('provider health', () => {
  const health = async () => (await server.client.call(listProviderHealth)).items

  it('[GW20] it tells breakers, errors, latency and what is configured', async () => {
    expect(await health()).toMatchObject([
      { id: 'test', configured: true, keys: 1, breaker: 'closed', calls: 0, errorRate: null, latency: null },
      { id: 'other', configured: false, keyVariable: null },
      { id: 'mistral', configured: false, keyVariable: 'MISTRAL_API_KEY' },
    ])
    await ask({ models: ['test'] })
    server.scripts.set('test', refusal)
    await ask({ models: ['test', 'second'] })
    const [test] = await health()
    expect(test).toMatchObject({ calls: 5, failures: 3, errorRate: 0.6, latency: { samples: 2 } })
    expect(test?.lastError).toMatchObject({ kind: 'transient', model: 'test' })
    await ask({ models: ['test', 'second'] })
    expect((await health())[0]).toMatchObject({
      breaker: 'open',
      models: [{ breaker: 'open', keyNumber: 1 }, {}],
    })
  })

  it('[GW11] a stream that breaks off counts as a failure, one that a person stops as nothing', async () => {
    server.scripts.set('test', brokenAnswer)
    await stream({ models: ['test'] })
    expect((await health())[0]).toMatchObject({ calls: 1, failures: 1 })
    server.scripts.set('test', async function* () {
      for (;;) {
        yield text('more and more ')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    const { headers, events } = await server.client.stream(chatUnified, { body: { messages, stream: true } })
    for await (const _ of events) break
    const runId = headers.get('x-run-id') ?? ''
    expect(await server.client.call(stopChatStream, { query: { runId } })).toEqual({
      runId,
      state: 'stopped',
    })
    await expect.poll(() => server.logged.some(({ finishReason }) => finishReason === 'aborted')).toBe(true)
    expect((await health())[0]).toMatchObject({ calls: 1, failures: 1 })
  })
})

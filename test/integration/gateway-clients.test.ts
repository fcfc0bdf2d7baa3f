import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import {
  type MockProviders,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { APICallError, embedMany, generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { pieces, startFaultProvider, told } from './gateway-fault-provider.ts'

const answer = pieces.join('')
const messages = [{ role: 'user' as const, content: 'Count to sixty.' }]

/** What is told by a provider’s own client is what the provider would have said: the bytes of these tests are honest. */
describe('the bytes of the fault lane', () => {
  it('[GW21] are Anthropic’s to Anthropic’s own client', async () => {
    await using provider = await startFaultProvider('anthropic')
    const client = new Anthropic({ baseURL: provider.origin, apiKey: 'a-key', maxRetries: 0 })
    const asked = { model: 'claude-haiku-5-5', max_tokens: 500, messages }
    const usage = { input_tokens: told.input, output_tokens: told.output }
    const whole = await client.messages.create(asked)
    expect(whole).toMatchObject({ content: [{ type: 'text', text: answer }], stop_reason: 'end_turn', usage })
    const stream = client.messages.stream(asked)
    expect(await stream.finalText()).toBe(answer)
    expect(await stream.finalMessage()).toMatchObject({ stop_reason: 'end_turn', usage })
    await provider.become({ kind: 'slow-drip' })
    expect(await client.messages.stream(asked).finalText()).toBe(answer)
    await provider.become({ kind: 'error-event', after: 30 })
    await expect(client.messages.stream(asked).finalText()).rejects.toThrow('overloaded')
    await provider.become({ kind: 'cut', after: 40 })
    await expect(client.messages.stream(asked).finalText()).rejects.toThrow()
    await provider.become({ kind: 'status', status: 429, retryAfterSeconds: 30 })
    await expect(client.messages.create(asked)).rejects.toThrow(Anthropic.RateLimitError)
    await provider.become({ kind: 'status', status: 401 })
    await expect(client.messages.create(asked)).rejects.toThrow(Anthropic.AuthenticationError)
  })

  it('[GW21] are OpenAI’s chat completions to OpenAI’s own client', async () => {
    await using provider = await startFaultProvider('chat')
    const client = new OpenAI({ baseURL: `${provider.origin}/v1`, apiKey: 'a-key', maxRetries: 0 })
    const asked = { model: 'gpt-6-luna', messages }
    const usage = { prompt_tokens: told.input, completion_tokens: told.output }
    expect(await client.chat.completions.create(asked)).toMatchObject({
      choices: [{ message: { content: answer }, finish_reason: 'stop' }],
      usage,
    })
    const stream = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } })
    expect(await stream.finalContent()).toBe(answer)
    expect(await stream.totalUsage()).toMatchObject(usage)
    await provider.become({ kind: 'error-event', after: 30 })
    await expect(client.chat.completions.stream(asked).finalContent()).rejects.toThrow(OpenAI.APIError)
    await provider.become({ kind: 'status', status: 500 })
    await expect(client.chat.completions.create(asked)).rejects.toThrow(OpenAI.InternalServerError)
  })

  it('[GW21] are OpenAI’s responses to OpenAI’s own client', async () => {
    await using provider = await startFaultProvider('responses')
    const client = new OpenAI({ baseURL: `${provider.origin}/v1`, apiKey: 'a-key', maxRetries: 0 })
    const asked = { model: 'gpt-6-luna', input: 'Count to sixty.' }
    const usage = { input_tokens: told.input, output_tokens: told.output }
    expect(await client.responses.create(asked)).toMatchObject({ output_text: answer, usage })
    const final = await client.responses.stream(asked).finalResponse()
    expect(final).toMatchObject({ status: 'completed', output_text: answer, usage })
    await provider.become({ kind: 'error-event', after: 30 })
    await expect(client.responses.stream(asked).finalResponse()).rejects.toThrow()
  })
})

describe('the AI SDK with our address as a compatible server', () => {
  let mock: MockProviders
  let server: TestServer
  let provider: ReturnType<typeof createOpenAICompatible>

  beforeAll(async () => {
    mock = await startMockProviders()
    server = await startTestServer({ environment: mock.environment })
    const apiKey = await (await signUpPerson(server.url)).apiKey({ scopes: ['ai'] })
    provider = createOpenAICompatible({
      name: 'atelier',
      baseURL: `${server.url}/v1`,
      apiKey,
      includeUsage: true,
    })
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await mock?.[Symbol.asyncDispose]()
  })

  it.each(['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash'])(
    '[V1, V2] streams and lets %s call a function in its own loop',
    async (model) => {
      const weather = tool({
        description: 'Weather of a city',
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => `sunny in ${city}`,
      })
      mock.answer('Is it sunny?', {
        content: '',
        toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }],
      })
      const { steps } = await generateText({
        model: provider(model),
        prompt: 'Is it sunny?',
        tools: { weather },
        stopWhen: isStepCount(2),
      })
      expect(steps[0]?.finishReason).toBe('tool-calls')
      expect(steps[0]?.toolResults).toMatchObject([{ toolName: 'weather', output: 'sunny in Paris' }])
      expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain('sunny in Paris')
      mock.answer('Count.', { content: 'one two three' })
      const { textStream, finishReason, totalUsage } = streamText({
        model: provider(model),
        prompt: 'Count.',
      })
      expect((await Array.fromAsync(textStream)).join('')).toBe('one two three')
      expect(await finishReason).toBe('stop')
      expect((await totalUsage).outputTokens).toBeGreaterThan(0)
    },
  )

  it('[V3] gets failures with their status', async () => {
    const failed = await generateText({ model: provider('nobody'), prompt: 'x', maxRetries: 0 }).catch(
      (error: unknown) => error,
    )
    expect(APICallError.isInstance(failed)).toBe(true)
    expect(failed).toMatchObject({ statusCode: 404, message: expect.stringContaining('nobody') })
  })

  it('[V7] embeds', async () => {
    const models = (await (
      await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${await keyOf(server)}` } })
    ).json()) as { data: { id: string }[] }
    const id = models.data.at(-1)?.id ?? ''
    const { embeddings } = await embedMany({ model: provider.embeddingModel(id), values: ['a fox', 'a dog'] })
    expect(embeddings).toHaveLength(2)
    expect(embeddings[0]).not.toEqual(embeddings[1])
  })
})

async function keyOf({ url }: TestServer): Promise<string> {
  return (await signUpPerson(url)).apiKey({ scopes: ['ai'] })
}

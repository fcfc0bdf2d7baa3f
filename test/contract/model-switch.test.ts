import { type Client, createClient } from '@atelier/client'
import { createWorkspace, startChatStream, uploadFiles } from '@atelier/contract'
import {
  type MockProviders,
  type ProviderRequest,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SentConversation, sentConversation, type Wire } from './sent-conversation.ts'

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam

/** One model of each way to speak to a provider. */
const wires: Record<Wire, string> = {
  responses: 'gpt-6-luna',
  anthropic: 'claude-haiku-5-5',
  google: 'gemini-3.8-flash',
  mistral: 'mistral-small-4',
  chat: 'qwen3.6-27b',
}
const names = Object.keys(wires) as Wire[]
const pairs = names.flatMap((first) => names.map((second) => [first, second] as const))

const tool = {
  type: 'function' as const,
  function: { name: 'look', parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}

let mock: MockProviders
let server: TestServer
let openai: OpenAI
let client: Client
let workspaceId: string

beforeAll(async () => {
  mock = await startMockProviders()
  server = await startTestServer({ environment: { ...mock.environment, OPENAI_API: 'responses' } })
  const person = await signUpPerson(server.url)
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: await person.apiKey(), maxRetries: 0 })
  client = createClient({ baseUrl: server.url, headers: person.headers, validateAnswers: true })
  workspaceId = (await client.call(createWorkspace, { body: { name: 'Switch' } })).id
  const form = new FormData()
  form.append('workspaceId', workspaceId)
  for (const name of ['a', 'b', 'c']) form.append('files', new File([`content of ${name}\n`], `${name}.txt`))
  await client.call(uploadFiles, { form })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await mock[Symbol.asyncDispose]()
})

/** Marks are words, so that no protocol's escaping hides them. */
let marks = 0
const marked = (text: string) => `mark${++marks}x ${text}`
const markOf = (text: string) => text.split(' ')[0] ?? ''
const marksIn = (value: unknown) => JSON.stringify(value).match(/mark\d+x/g) ?? []

/** What the provider got last, in one form for all protocols; checked for what its protocol demands. */
const lastSent = (wire: Wire): SentConversation =>
  sentConversation(wire, mock.requests.at(-1) as ProviderRequest)

/** A turn of a person and its answer, with or without functions called between them; ids are some provider's. */
const turn = fc.record({
  question: fc.string({ minLength: 1, maxLength: 40 }),
  answer: fc.string({ minLength: 1, maxLength: 40 }),
  calls: fc.uniqueArray(
    fc.record({
      place: fc.string({ maxLength: 20 }),
      found: fc.string({ maxLength: 20 }),
      id: fc.constantFrom('call_0', 'toolu_01A', 'a.b:c/d', 'Abcdefgh9', 'x'.repeat(60)),
    }),
    { maxLength: 3, selector: ({ id }) => id },
  ),
})
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

/** In OpenAI's dialect, with the marks in their order. */
function messagesOf(turns: readonly Turn[]): { messages: Message[]; order: string[] } {
  const messages: Message[] = []
  const order: string[] = []
  const note = (text: string) => {
    order.push(markOf(text))
    return text
  }
  for (const { question, answer, calls } of turns) {
    messages.push({ role: 'user', content: note(marked(question)) })
    if (calls.length > 0) {
      const made = calls.map(({ id, place }) => ({
        id,
        type: 'function' as const,
        function: { name: 'look', arguments: JSON.stringify({ place: note(marked(place)) }) },
      }))
      messages.push({ role: 'assistant', content: null, tool_calls: made })
      for (const { id, found } of calls) {
        messages.push({ role: 'tool', tool_call_id: id, content: note(marked(found)) })
      }
    }
    messages.push({ role: 'assistant', content: note(marked(answer)) })
  }
  return { messages, order }
}

describe.each(pairs)('a conversation that goes on from %s to %s', (first, second) => {
  it('[CHAT5, CHAT22] keeps every text, call and result in order, with ids that the protocol takes', async () => {
    const property = fc.asyncProperty(fc.array(turn, { maxLength: 3 }), async (turns) => {
      const { messages, order } = messagesOf(turns)
      const conversation: Message[] = [{ role: 'system', content: 'Be brief.' }, ...messages]
      for (const [wire, asked] of [
        [first, marked('And?')],
        [second, marked('And now?')],
      ] as const) {
        conversation.push({ role: 'user', content: asked })
        order.push(markOf(asked))
        const body = { model: wires[wire], messages: conversation, tools: [tool] }
        const { choices } = await openai.chat.completions.create(body)
        const sent = lastSent(wire)
        expect(marksIn(sent.turns)).toEqual(order)
        expect(sent.calls).toHaveLength(turns.flatMap(({ calls }) => calls).length)
        const answer = choices[0]?.message.content ?? ''
        expect(answer).toContain('Mock answer')
        conversation.push({ role: 'assistant', content: answer })
        order.push(...marksIn(answer))
      }
    })
    await fc.assert(property, { numRuns: 6 })
  })

  it('[CHAT5, CHAT25, TOOL5, TOOL9] keeps what tools gave, and reasoning for the model that made it only', async () => {
    const calls = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
    const property = fc.asyncProperty(calls, fc.boolean(), async (files, says) => {
      const question = marked('Which?')
      const [thought, said, answer, next] = [marked('Hm.'), marked('Wait.'), marked('This.'), marked('And?')]
      const toolCalls = files.map((file) => ({ name: 'read_file', arguments: { path: `${file}.txt` } }))
      const reply = { content: says ? said : '', reasoning: thought, toolCalls }
      mock.answer(markOf(question), reply, { afterTools: false })
      mock.answer(markOf(question), { content: answer }, { afterTools: true })
      mock.answer(markOf(next), { content: 'Done.' })
      const chatId = await ask(wires[first], question)
      const within = lastSent(first)
      await ask(wires[second], next, chatId)
      const after = lastSent(second)
      const order = [question, ...(says ? [said] : []), answer, next].map(markOf)
      expect(marksIn(after.turns)).toEqual(order)
      for (const { calls, results } of [within, after]) {
        expect(calls.map(({ input }) => input)).toEqual(toolCalls.map((call) => call.arguments))
        expect(results.map(({ text }) => text)).toEqual(
          files.map((file) => expect.stringContaining(`1| content of ${file}`)),
        )
      }
      const own = first === second && within.reasoning.length > 0
      expect(marksIn(after.reasoning)).toEqual(own ? [markOf(thought)] : [])
      expect(JSON.stringify(after.reasoning).includes(markOf(thought))).toBe(own)
    })
    await fc.assert(property, { numRuns: 2 })
  })
})

/** Asks in a stored conversation, with tools; gives its id. */
async function ask(model: string, message: string, chatId?: string): Promise<string> {
  const body = { message, model, workspaceId, enableTools: true, ...(chatId && { chatId }) }
  const { headers, events } = await client.stream(startChatStream, { body })
  let end: unknown
  for await (const { event } of events) end = event
  expect(end).toMatchObject({ done: true, finishReason: 'stop' })
  return headers.get('x-chat-id') ?? ''
}

it('[TOOL5] reasoning goes back to Anthropic with its signature while tools are called', async () => {
  const [question, thought] = [marked('Which?'), marked('Hm.')]
  const toolCalls = [{ name: 'list_files', arguments: {} }]
  mock.answer(markOf(question), { content: '', reasoning: thought, toolCalls }, { afterTools: false })
  mock.answer(markOf(question), { content: 'Three.' }, { afterTools: true })
  await ask(wires.anthropic, question)
  expect(lastSent('anthropic').reasoning).toMatchObject([
    { thinking: thought, signature: expect.any(String) },
  ])
})

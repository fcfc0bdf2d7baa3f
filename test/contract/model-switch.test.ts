import {
  type MockProviders,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam

/** One model of each wire protocol. */
const models = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash', 'mistral-small-4']
const pairs = models.flatMap((first) => models.map((second) => [first, second] as const))

const tool = {
  type: 'function' as const,
  function: { name: 'look', parameters: { type: 'object', properties: { place: { type: 'string' } } } },
}

let mock: MockProviders
let server: TestServer
let openai: OpenAI

beforeAll(async () => {
  mock = await startMockProviders()
  server = await startTestServer({ environment: mock.environment })
  const apiKey = await (await signUpPerson(server.url)).apiKey()
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await mock[Symbol.asyncDispose]()
})

/** A turn of a person and its answer, with or without functions called between them. Texts are marked to be found again. */
const turn = fc.record({
  question: fc.string({ minLength: 1, maxLength: 40 }),
  answer: fc.string({ minLength: 1, maxLength: 40 }),
  calls: fc.array(fc.record({ place: fc.string({ maxLength: 20 }), found: fc.string({ maxLength: 20 }) }), {
    maxLength: 3,
  }),
})

/** Marks are words, so that no protocol's escaping hides them. */
let marks = 0
const marked = (text: string) => `mark${++marks}x ${text}`
const markOf = (text: string) => text.split(' ')[0] ?? ''

function messagesOf(
  turns: { question: string; answer: string; calls: { place: string; found: string }[] }[],
): {
  messages: Message[]
  order: string[]
} {
  const messages: Message[] = []
  const order: string[] = []
  const note = (text: string) => {
    order.push(markOf(text))
    return text
  }
  for (const { question, answer, calls } of turns) {
    messages.push({ role: 'user', content: note(marked(question)) })
    if (calls.length > 0) {
      const made = calls.map(({ place }, index) => ({
        id: `call_${marks}_${index}`,
        type: 'function' as const,
        function: { name: 'look', arguments: JSON.stringify({ place: note(marked(place)) }) },
      }))
      messages.push({ role: 'assistant', content: null, tool_calls: made })
      for (const [index, { found }] of calls.entries()) {
        messages.push({ role: 'tool', tool_call_id: made[index]?.id ?? '', content: note(marked(found)) })
      }
    }
    messages.push({ role: 'assistant', content: note(marked(answer)) })
  }
  return { messages, order }
}

/** The marks of a request that a provider got, in their order. */
const marksIn = (body: unknown) => JSON.stringify(body).match(/mark\d+x/g) ?? []

describe('a conversation that changes its model', () => {
  it.each(pairs)(
    '[CHAT5, TOOL5] goes on whole from %s to %s, function calls included',
    async (first, second) => {
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { maxLength: 3 }), async (turns) => {
          const { messages, order } = messagesOf(turns)
          const conversation: Message[] = [{ role: 'system', content: 'Be brief.' }, ...messages]
          for (const [model, asked] of [
            [first, marked('And?')],
            [second, marked('And now?')],
          ] as const) {
            conversation.push({ role: 'user', content: asked })
            order.push(markOf(asked))
            const { choices } = await openai.chat.completions.create({
              model,
              messages: conversation,
              tools: [tool],
            })
            expect(marksIn(mock.requests.at(-1)?.body)).toEqual(order)
            const answer = choices[0]?.message.content ?? ''
            expect(answer).toContain('Mock answer')
            conversation.push({ role: 'assistant', content: answer })
            order.push(...marksIn(answer))
          }
        }),
        { numRuns: 8 },
      )
    },
  )
})

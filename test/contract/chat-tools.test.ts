import { type Client, createClient } from '@atelier/client'
import {
  chatEnhanced,
  createFile,
  createWorkspace,
  readChats,
  startChatStream,
  uploadFiles,
} from '@atelier/contract'
import {
  type MockProviders,
  type Person,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { runIn } from './run-in-workspace.ts'

/** One model of each wire protocol, and of each package that speaks one in its own way. */
const models = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash', 'mistral-small-4']

const source =
  'import { serve } from "./http.ts"\n\nexport function start(port: number) {\n  serve(port)\n}\n'

let mock: MockProviders

beforeAll(async () => {
  mock = await startMockProviders()
})
afterAll(() => mock[Symbol.asyncDispose]())

let questions = 0

/** Asks a question for which the model calls one tool, then answers; gives what the tool gave, as the provider got it. */
async function callTool(
  client: Client,
  asked: { workspaceId: string; model?: string; name: string; input: Record<string, unknown> },
) {
  const { workspaceId, model = 'gpt-6-luna', name, input } = asked
  const message = `Question ${++questions} of the tool test?`
  mock.answer(message, { content: 'Read: [src/start.ts:3-5].' }, { afterTools: true })
  mock.answer(message, { content: '', toolCalls: [{ name, arguments: input }] }, { afterTools: false })
  const body = { message, model, enableTools: true, context: { workspaceId } }
  const { headers, events } = await client.stream(chatEnhanced, { body })
  const chunks = []
  for await (const { event } of events) chunks.push(event)
  const tools = chunks.flatMap((chunk) => ('tool' in chunk ? [chunk.tool] : []))
  return {
    headers,
    tools,
    last: chunks.at(-1),
    text: tools.at(-1)?.result ?? '',
    given: JSON.stringify(mock.requests.at(-1)?.body),
  }
}

describe('tools on a workspace that does not run', () => {
  let server: TestServer
  let client: Client
  let workspaceId: string

  beforeAll(async () => {
    server = await startTestServer({ environment: { ...mock.environment, PATH: '/nonexistent' } })
    const { headers } = await signUpPerson(server.url)
    client = createClient({ baseUrl: server.url, headers, validateAnswers: true })
    workspaceId = (await client.call(createWorkspace, { body: { name: 'Asleep' } })).id
    const form = new FormData()
    form.append('workspaceId', workspaceId)
    form.append('files', new File([source], 'src/start.ts'))
    form.append('files', new File(['# Start\n\nSee `start`.\n'], 'README.md'))
    await client.call(uploadFiles, { form })
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  it.each(models)('[TOOL1, TOOL2] %s is given what a tool reads, and may cite it', async (model) => {
    const input = { path: 'src/start.ts', start_line: 3 }
    const { headers, tools, last, given } = await callTool(client, {
      workspaceId,
      model,
      name: 'read_file',
      input,
    })
    expect(headers.get('x-tools-enabled')).toBe('true')
    expect(tools).toMatchObject([
      { name: 'read_file', input, state: 'running' },
      { name: 'read_file', state: 'done', summary: 'lines 3-5 of 5' },
    ])
    expect(given).toContain('4|   serve(port)')
    expect(last).toMatchObject({ finishReason: 'stop', citations: [{ path: 'src/start.ts', startLine: 3 }] })
  })

  it.each([
    ['list_files', {}, ['README.md (22)', `src/start.ts (${source.length})`]],
    ['list_files', { folder: './src/' }, [`src/start.ts (${source.length})`]],
    ['list_files', { folder: '../' }, ['There is no file']],
    ['grep', { query: 'START(' }, ['src/start.ts:3: export function start(port: number) {']],
    ['grep', { query: 'start', folder: 'README.md' }, ['README.md:1: # Start', 'README.md:3: See `start`.']],
    ['grep', { query: 'st.rt', regex: true }, ['workspaces cannot be started on this server']],
    [
      'search_code',
      { query: 'Which function starts to serve a port?' },
      ['src/start.ts', '3| export function start'],
    ],
    ['read_file', { path: 'src/start.ts', end_line: 1 }, ['1| import', 'The file has 5 lines']],
    ['read_file', { path: '/etc/passwd' }, ['There is no text file at /etc/passwd']],
    ['read_file', { path: '../../etc/passwd' }, ['There is no text file']],
  ])('[TOOL1, TOOL8] %s of %o reads the documents', async (name, input, expected) => {
    const { text } = await callTool(client, { workspaceId, name, input })
    for (const part of expected) expect(text).toContain(part)
    expect(text).not.toContain('root:')
  })

  it('[TOOL9] what was called and found goes with the next question, to a model of another family too', async () => {
    const ask = async (model: string, message: string, chatId?: string) => {
      const body = { message, model, workspaceId, enableTools: true, ...(chatId && { chatId }) }
      const { headers, events } = await client.stream(startChatStream, { body })
      for await (const _ of events);
      return headers.get('x-chat-id') ?? ''
    }
    mock.answer('What is in there?', { content: 'A function.' }, { afterTools: true })
    const toolCalls = [{ name: 'read_file', arguments: { path: 'src/start.ts' } }]
    mock.answer('What is in there?', { content: 'Let me look.', toolCalls }, { afterTools: false })
    const chatId = await ask('claude-haiku-5-5', 'What is in there?')
    const read = await client.call(readChats, { query: { chatId } })
    expect(read).toMatchObject({
      items: [{}, { content: 'Let me look.A function.', answer: { tools: [{ state: 'done' }] } }],
    })
    expect(JSON.stringify(read)).not.toContain('steps')
    await ask('gpt-6-luna', 'And on line 4?', chatId)
    const { messages } = (mock.requests.at(-1)?.body ?? {}) as { messages: Record<string, unknown>[] }
    expect(messages.map(({ role }) => role)).toEqual([
      'developer',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(messages[2]).toMatchObject({
      content: 'Let me look.',
      tool_calls: [{ function: { name: 'read_file' } }],
    })
    expect(JSON.stringify(messages[3])).toContain('4|   serve(port)')
    expect(messages[4]).toMatchObject({ content: 'A function.' })
  })
})

describe.skipIf(noBubblewrap())('tools on a workspace that runs', () => {
  let server: TestServer
  let person: Person
  let client: Client
  let workspaceId: string

  beforeAll(async () => {
    server = await startTestServer({ environment: mock.environment })
    person = await signUpPerson(server.url)
    client = createClient({ baseUrl: server.url, headers: person.headers, validateAnswers: true })
    workspaceId = (await client.call(createWorkspace, { body: { name: 'Awake' } })).id
    await client.call(createFile, { body: { workspaceId, path: 'src/start.ts', content: source } })
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  it('[TOOL8] read the directory as it is now, and nothing outside it', async () => {
    const script = `printf 'fresh words\\n' > fresh.txt; ln -s /etc/passwd outside
      mkdir -p node_modules/a; echo serve > node_modules/a/b.js`
    await runIn(server.url, person, { workspaceId, script })
    const calls: [string, Record<string, unknown>, string][] = [
      ['list_files', {}, 'fresh.txt (12)'],
      ['list_files', { folder: 'src' }, `src/start.ts (${source.length})`],
      ['read_file', { path: 'fresh.txt' }, '1| fresh words'],
      ['grep', { query: 'FRESH' }, 'fresh.txt:1: fresh words'],
      ['grep', { query: 's[e]rve\\(', regex: true }, 'src/start.ts:4:   serve(port)'],
      ['read_file', { path: 'outside' }, 'There is no text file'],
      ['read_file', { path: '../../../etc/passwd' }, 'There is no text file'],
      ['list_files', { folder: '../..' }, 'must be relative'],
      ['grep', { query: 'root', folder: '/etc' }, 'refused'],
    ]
    for (const [name, input, expected] of calls) {
      const { text } = await callTool(client, { workspaceId, name, input })
      expect(text).toContain(expected)
      expect(text).not.toMatch(/root:|node_modules\/a/)
    }
  })
})

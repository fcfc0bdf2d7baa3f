import { type Client, createClient } from '@atelier/client'
import {
  type Body,
  createWorkspace,
  deleteChat,
  deleteWorkspace,
  readChats,
  renameChat,
  resumeChatStream,
  saveChat,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import {
  type MockProviders,
  type MongoServer,
  mongoUnavailable,
  type Person,
  signUpPerson,
  startMockProviders,
  startMongoServer,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const noMongo = mongoUnavailable()
const stores = [
  { name: 'relational', skipped: undefined },
  { name: 'mongodb', skipped: noMongo },
] as const

let mock: MockProviders

beforeAll(async () => {
  mock = await startMockProviders()
})
afterAll(() => mock[Symbol.asyncDispose]())

async function startMongo(): Promise<MongoServer> {
  const server = await startMongoServer()
  if ('unavailable' in server) throw new Error(server.unavailable)
  return server
}

const nameIn = (uri: string, name: string) => uri.replace(/\/?(\?|$)/, `/${name}$1`)

for (const { name, skipped } of stores) {
  const why = skipped === undefined ? '' : `; skipped: ${skipped}`
  describe.skipIf(skipped !== undefined)(`/api/chat/mongodb (${name}${why})`, () => {
    let mongo: MongoServer | undefined
    let server: TestServer
    let person: Person
    let client: Client
    let stranger: Client

    const clientOf = ({ headers }: Person) =>
      createClient({ baseUrl: server.url, headers, validateAnswers: true })

    beforeAll(async () => {
      mongo = name === 'mongodb' ? await startMongo() : undefined
      const environment = { ...mock.environment, ...(mongo && { MONGODB_URI: nameIn(mongo.uri, 'chats') }) }
      server = await startTestServer({ environment })
      person = await signUpPerson(server.url)
      client = clientOf(person)
      stranger = clientOf(await signUpPerson(server.url))
    })
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]()
      await mongo?.[Symbol.asyncDispose]()
    })

    const save = (body: Body<typeof saveChat>, by = client) => by.call(saveChat, { body })
    const said = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `Turn ${index + 1}`,
      }))
    async function readChat(chatId: string, query: { limit?: number; cursor?: string } = {}) {
      const read = await client.call(readChats, { query: { chatId, ...query } })
      if (read.kind !== 'chat') throw new Error(read.kind)
      return read
    }
    async function list(query: Record<string, string | number> = {}, by = client) {
      const read = await by.call(readChats, { query })
      if (read.kind !== 'list') throw new Error(read.kind)
      return read
    }
    async function ask(body: Partial<Body<typeof startChatStream>>) {
      const whole = { message: 'What?', model: 'gpt-6-luna', ...body }
      const { headers, events } = await client.stream(startChatStream, { body: whole })
      const chunks = []
      for await (const { event } of events) chunks.push(event)
      return {
        chatId: headers.get('x-chat-id') ?? '',
        runId: headers.get('x-run-id') ?? '',
        last: chunks.at(-1),
      }
    }

    it('[CONV6, CONV9] creates a conversation, titled by its first question, and appends to it', async () => {
      const { chat, items } = await save({ messages: said(2) })
      expect(chat).toMatchObject({ title: 'Turn 1', messages: 2, runId: null, workspaceId: null })
      expect(items.map(({ position }) => position)).toEqual([1, 2])
      const more = await save({ chatId: chat.id, messages: [{ role: 'user', content: 'Turn 3' }] })
      expect(more.items).toMatchObject([{ position: 3, content: 'Turn 3' }])
      expect((await readChat(chat.id)).items.map(({ content }) => content)).toEqual([
        'Turn 1',
        'Turn 2',
        'Turn 3',
      ])
    })

    it('[CONV5, CONV9] gives messages in pages, and the whole as a document', async () => {
      const { chat } = await save({ title: 'Über: alles/nichts', messages: said(7) })
      const pages: string[][] = []
      let cursor: string | null | undefined
      do {
        const page = await readChat(chat.id, { limit: 3, ...(cursor && { cursor }) })
        pages.push(page.items.map(({ content }) => content.replace('Turn ', '')))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(pages).toEqual([['5', '6', '7'], ['2', '3', '4'], ['1']])
      const document = await client.call(readChats, { query: { chatId: chat.id, format: 'markdown' } })
      expect(document).toMatchObject({ kind: 'document', fileName: 'Uber-alles-nichts.md' })
      const content = document.kind === 'document' ? document.content : ''
      expect(content.match(/Turn \d/g)).toEqual(said(7).map((turn) => turn.content))
    })

    it('[CONV4, CONV9] lists in pages and finds a text in titles and messages', async () => {
      const made = []
      for (const title of ['Walrus one', 'walRUS two', 'Other']) {
        made.push(
          (await save({ title, messages: [{ role: 'user', content: `About ${title} (50% off)` }] })).chat.id,
        )
      }
      const first = await list({ search: 'WALRUS', limit: 1 })
      const second = await list({ search: 'WALRUS', limit: 1, cursor: first.nextCursor ?? '' })
      expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual(made.slice(0, 2).sort())
      expect(second.nextCursor).toBeNull()
      expect((await list({ search: 'other (50% OFF' })).items.map(({ id }) => id)).toEqual(made.slice(2))
      expect((await list({ search: 'walrus.one' })).items).toEqual([])
      expect((await list({ search: 'walrus' }, stranger)).items).toEqual([])
    })

    it('[CONV7, CONV9] renames and deletes', async () => {
      const { chat } = await save({ messages: said(2) })
      expect(await client.call(renameChat, { body: { chatId: chat.id, title: ' Better ' } })).toMatchObject({
        title: 'Better',
      })
      await client.call(deleteChat, { query: { chatId: chat.id } })
      await expect(readChat(chat.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(client.call(deleteChat, { query: { chatId: chat.id } })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })

    it("[CONV8, CONV9] somebody else's conversation is 404 in every way, and unchanged", async () => {
      const { chat } = await save({ messages: said(1) })
      const chatId = chat.id
      for (const attempt of [
        () => stranger.call(readChats, { query: { chatId } }),
        () => stranger.call(readChats, { query: { chatId, format: 'markdown' } }),
        () => save({ chatId, messages: said(1) }, stranger),
        () => stranger.call(renameChat, { body: { chatId, title: 'x' } }),
        () => stranger.call(deleteChat, { query: { chatId } }),
        () => stranger.stream(startChatStream, { body: { chatId, message: 'x', model: 'local' } }),
        () => stranger.stream(resumeChatStream, { query: { chatId } }),
      ]) {
        await expect(attempt()).rejects.toMatchObject({ code: 'NOT_FOUND' })
      }
      expect((await readChat(chatId)).items).toMatchObject([{ content: 'Turn 1' }])
    })

    it('[CONV1, CONV2, CONV9] keeps questions and answers with what is known about them, and sends them on', async () => {
      mock.answer('Who was first?', { content: 'Ada.' })
      const { chatId, last } = await ask({ message: 'Who was first?' })
      expect(last).toMatchObject({ done: true, chatId, finishReason: 'stop' })
      await ask({ chatId, message: 'And then?', model: 'claude-haiku-5-5' })
      expect(JSON.stringify(mock.requests.at(-1)?.body)).toMatch(/Who was first\?.*Ada\..*And then\?/)
      const { chat, items } = await readChat(chatId)
      expect(chat).toMatchObject({ title: 'Who was first?', model: 'claude-haiku-5-5', messages: 4 })
      expect(items[1]).toMatchObject({
        content: 'Ada.',
        answer: {
          model: 'gpt-6-luna',
          provider: 'openai/gpt-6-luna',
          finishReason: 'stop',
          attempts: [{ outcome: 'answered' }],
        },
      })
    })

    it('[CONV14, CONV9] a key made for some workspaces sees no conversation and no run about another', async () => {
      const inOne = await client.call(createWorkspace, { body: { name: 'Of the key' } })
      const inOther = await client.call(createWorkspace, { body: { name: 'Not of the key' } })
      const own = await ask({ workspaceId: inOne.id })
      const { chat: plain } = await save({ messages: said(2) })
      const other = await ask({ workspaceId: inOther.id })
      const key = await person.apiKey({ workspaceIds: [inOne.id] })
      const limited = createClient({ baseUrl: server.url, headers: { 'x-api-key': key } })
      const listed = (await list({}, limited)).items.map(({ id }) => id)
      expect(listed).toEqual(expect.arrayContaining([own.chatId, plain.id]))
      expect(listed).not.toContain(other.chatId)
      const { chatId, runId } = other
      const refused = [
        () => limited.call(readChats, { query: { chatId } }),
        () => limited.call(readChats, { query: { chatId, format: 'markdown' } }),
        () => limited.call(renameChat, { body: { chatId, title: 'Taken' } }),
        () => save({ chatId, messages: said(1) }, limited),
        () => limited.stream(startChatStream, { body: { chatId, message: 'x', model: 'local' } }),
        () => limited.stream(resumeChatStream, { query: { chatId } }),
        () => limited.stream(resumeChatStream, { query: { runId } }),
        () => limited.call(stopChatStream, { query: { runId } }),
        () => limited.call(deleteChat, { query: { chatId } }),
      ]
      for (const call of refused) await expect(call()).rejects.toMatchObject({ status: 404 })
      expect((await readChat(chatId)).chat).toMatchObject({ title: 'What?', messages: 2 })
      expect((await ask({ chatId: own.chatId })).last).toMatchObject({ finishReason: 'stop' })
      expect(await limited.call(stopChatStream, { query: { runId: own.runId } })).toMatchObject({
        state: 'finished',
      })
    })

    it('[CONV15, CONV9] a title or a search with a NUL is taken like any other', async () => {
      const { chat } = await save({ messages: [{ role: 'user', content: 'cut\0here' }] })
      expect(chat.title).toBe('cut\uFFFDhere')
      const renamed = await client.call(renameChat, { body: { chatId: chat.id, title: 'cut\0there' } })
      expect(renamed.title).toBe('cut\uFFFDthere')
      for (const search of ['cut\0here', 'cut\0there'])
        expect((await list({ search })).items.map(({ id }) => id)).toEqual([chat.id])
    })

    it('[CONV13, CONV9] goes on when its workspace is deleted', async () => {
      const { id: workspaceId } = await client.call(createWorkspace, { body: { name: 'Gone soon' } })
      const { chatId } = await ask({ workspaceId })
      expect((await list({ workspaceId })).items.map(({ id }) => id)).toEqual([chatId])
      await client.call(deleteWorkspace, { params: { workspaceId } })
      expect((await ask({ chatId })).last).toMatchObject({ finishReason: 'stop', ragContext: null })
    })

    if (name === 'mongodb') {
      it('[CONV9, CONV12] has a document for each message, and nothing of it in the database', async () => {
        const { chat } = await save({ messages: said(3) })
        const found = await new MongoClient(nameIn(mongo?.uri ?? '', 'chats')).connect()
        const messages = found.db().collection<{ chatId: string; content: string }>('chatMessages')
        const kept = await messages.find({ chatId: chat.id }).sort({ position: 1 }).toArray()
        expect(kept.map(({ content }) => content)).toEqual(['Turn 1', 'Turn 2', 'Turn 3'])
        await found.close()
      })

      it.skipIf(process.env.MONGODB_TEST_URI)(
        '[CONV11] a MongoDB that is gone is 503 for conversations, and for nothing else',
        async () => {
          await mongo?.crash()
          const failing = client.call(readChats, { query: {} })
          await expect(failing).rejects.toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
          expect((await fetch(`${server.url}/api/health/ready`)).status).toBe(200)
        },
      )
    }
  })
}

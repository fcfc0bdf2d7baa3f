import { setImmediate } from 'node:timers/promises'
import type { AnswerFacts } from '@atelier/contract'
import { type DatabaseEngine, databaseEngines, mongoUnavailable, startMongoServer } from '@atelier/testkit'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../base/ids.ts'
import { openMongo } from '../../platform/db/mongo.ts'
import type { ChatStore, NewMessageRow } from './chat-store.ts'
import { openChatDatabase, people, workspaceId } from './chat-test-server.ts'
import { openMongoChatStore } from './mongo-chat-store.ts'
import { createRelationalChatStore } from './relational-chat-store.ts'

interface Opened extends AsyncDisposable {
  store: ChatStore
}

async function openRelational(engine: DatabaseEngine): Promise<Opened> {
  const database = await openChatDatabase(engine)
  return {
    store: createRelationalChatStore({ database }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

async function openDocuments(): Promise<Opened> {
  await using stack = new AsyncDisposableStack()
  const server = await startMongoServer()
  if ('unavailable' in server) throw new Error(server.unavailable)
  stack.use(server)
  const mongo = stack.use(await openMongo(withName(server.uri)))
  const store = await openMongoChatStore(mongo)
  const owned = stack.move()
  return { store, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A database of its own on the server. */
function withName(uri: string): string {
  return uri.replace(/\/\?|\/?$/, (end) => `/${newId('chat').toLowerCase()}${end.replace('/', '')}`)
}

const noMongo = mongoUnavailable()
const stores = [
  ...databaseEngines().map(({ engine, unavailable }) => ({
    name: engine,
    unavailable,
    open: () => openRelational(engine),
  })),
  { name: 'mongodb', unavailable: noMongo, open: openDocuments },
]

const [ada, bob] = people
const facts: AnswerFacts = {
  runId: 'run_01JD8XQ4ZK3V5N6P7R8S9T0AAA',
  model: 'm',
  provider: 'p/m',
  finishReason: 'stop',
  usage: null,
  cost: '0.01',
  citations: [],
  attempts: [],
  tools: [
    {
      id: 'c',
      name: 'grep',
      input: { $where: 'a', 'a.b': { $gt: 1 }, '\0': 'nul\0', ['__proto__']: 1 },
      state: 'done',
      summary: 'half \ud83d',
      result: null,
      ms: 1,
    },
  ],
  ragContext: null,
}

const message = (content: string, more: Partial<NewMessageRow> = {}): NewMessageRow => ({
  id: newId('message'),
  role: 'user',
  content,
  answer: null,
  steps: null,
  ...more,
})

/** Times are kept to the millisecond. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now + 1) await setImmediate()
}

for (const { name, unavailable, open } of stores) {
  const skipped = unavailable === undefined ? '' : `; skipped: ${unavailable}`
  describe.skipIf(unavailable !== undefined)(`a store of conversations (${name}${skipped})`, () => {
    let opened: Opened
    let store: ChatStore
    beforeAll(async () => {
      opened = await open()
      store = opened.store
    })
    afterAll(() => opened?.[Symbol.asyncDispose]())

    async function chat(title = 'Chat', more: { userId?: string; workspaceId?: string } = {}) {
      const { userId = ada, workspaceId: about = null } = more
      return (await store.create(userId, { id: newId('chat'), title, workspaceId: about })).id
    }
    const contents = async (chatId: string) =>
      (await store.messages(ada, chatId, { limit: 1_000 })).map(({ position, content }) => [
        position,
        content,
      ])

    it('[CONV6, CONV9] messages are kept as they are, in their order, with what an answer knows', async () => {
      const id = await chat()
      const steps = [{ producer: 'm', parts: [{ type: 'text' as const, text: 'x\0' }], results: [] }]
      await store.append(ada, id, [
        message('Question'),
        message('Ünïcode 🦊 \0', { role: 'assistant', answer: facts, steps }),
      ])
      const [first, second] = await store.messages(ada, id, { limit: 10, withSteps: true })
      expect(first).toMatchObject({
        position: 1,
        role: 'user',
        content: 'Question',
        answer: null,
        steps: null,
      })
      expect(second).toMatchObject({ position: 2, content: 'Ünïcode 🦊 \uFFFD', createdAt: expect.any(Date) })
      expect(second?.steps).toEqual([
        { producer: 'm', parts: [{ type: 'text', text: 'x\uFFFD' }], results: [] },
      ])
      const [kept] = second?.answer?.tools ?? []
      expect(kept?.input).toMatchObject({ $where: 'a', 'a.b': { $gt: 1 } })
      expect(kept?.summary).toBe('half \uFFFD')
      const [, plain] = await store.messages(ada, id, { limit: 10 })
      expect(plain?.steps).toBeNull()
    })

    it('[CONV6, CONV9] concurrent writers leave no gap and no double, and lose nothing', async () => {
      const id = await chat()
      await Promise.all(
        Array.from({ length: 12 }, (_, writer) =>
          store.append(ada, id, [message(`${writer}a`), message(`${writer}b`)]),
        ),
      )
      const rows = await contents(id)
      expect(rows.map(([position]) => position)).toEqual(Array.from({ length: 24 }, (_, index) => index + 1))
      for (let at = 0; at < 24; at += 2) {
        // What is appended together stays together.
        expect(rows[at + 1]?.[1]).toBe(String(rows[at]?.[1]).replace('a', 'b'))
      }
      expect(await store.find(ada, id)).toMatchObject({ messages: 24 })
    })

    it('[CONV5, CONV9] pages go back from the newest', async () => {
      const id = await chat()
      await store.append(
        ada,
        id,
        Array.from({ length: 5 }, (_, index) => message(`m${index + 1}`)),
      )
      const page = async (before?: number) =>
        (await store.messages(ada, id, { limit: 2, ...(before && { before }) })).map(({ content }) => content)
      expect([await page(), await page(4), await page(2), await page(1)]).toEqual([
        ['m4', 'm5'],
        ['m2', 'm3'],
        ['m1'],
        [],
      ])
    })

    it('[CONV4, CONV9] lists the last used first, in pages, and only of one workspace where asked', async () => {
      const ids: string[] = []
      for (const [title, more] of [
        ['one', {}],
        ['two', { workspaceId }],
        ['three', {}],
      ] as const) {
        ids.push(await chat(title, more))
        await nextMillisecond()
      }
      const [first = ''] = ids
      await store.append(ada, first, [message('again')])
      const order: string[] = []
      let after: { updatedAt: Date; id: string } | undefined
      for (;;) {
        const rows = await store.list(ada, { limit: 1, ...(after && { after }) })
        const [row] = rows
        if (row === undefined) break
        order.push(row.id)
        after = row
      }
      expect(new Set(order).size).toBe(order.length)
      expect(order.filter((id) => ids.includes(id))).toEqual([first, ids[2], ids[1]])
      expect((await store.list(ada, { limit: 50, workspaceId })).map(({ title }) => title)).toEqual(['two'])
    })

    it('[CONV4, CONV9] finds a text in titles and messages, in any case, and no pattern', async () => {
      const titled = await chat('Größe der MENGE (a+b)*')
      const said = await chat('Other')
      await store.append(ada, said, [message('100% of it.\nWhere is ÄPFEL_Kuchen?')])
      const found = async (search: string) =>
        (await store.list(ada, { limit: 50, search })).map(({ id }) => id)
      expect(await found('größe DER')).toEqual([titled])
      expect(await found('(A+B)*')).toEqual([titled])
      expect(await found('äpfel_kuchen')).toEqual([said])
      expect(await found('100%')).toEqual([said])
      for (const none of ['.*', 'ÄPFEL.Kuchen', '100_', '^Other', 'nothing like it'])
        expect(await found(none)).toEqual([])
    })

    it('[CONV7, CONV9] is renamed and deleted with its messages', async () => {
      const id = await chat('Old')
      await store.append(ada, id, [message('Find me zebra')], { model: 'm', workspaceId })
      expect(await store.rename(ada, id, 'New')).toMatchObject({
        title: 'New',
        model: 'm',
        workspaceId,
        messages: 1,
      })
      expect(await store.remove(ada, id)).toBe(true)
      expect(await store.remove(ada, id)).toBe(false)
      expect([await store.find(ada, id), await contents(id)]).toEqual([null, []])
      expect(await store.append(ada, id, [message('late')])).toBeNull()
      expect(await store.rename(ada, id, 'x')).toBeNull()
      expect(await store.list(ada, { limit: 5, search: 'zebra' })).toEqual([])
    })

    it("[CONV8, CONV9] somebody else's is not there, and unchanged", async () => {
      const id = await chat('Mine')
      await store.append(ada, id, [message('secret walrus')])
      expect(await store.find(bob, id)).toBeNull()
      expect(await store.messages(bob, id, { limit: 5 })).toEqual([])
      expect(await store.append(bob, id, [message('x')])).toBeNull()
      expect(await store.rename(bob, id, 'x')).toBeNull()
      expect(await store.remove(bob, id)).toBe(false)
      expect(await store.list(bob, { limit: 50, search: 'walrus' })).toEqual([])
      expect([await store.find(ada, id), await contents(id)]).toMatchObject([
        { title: 'Mine' },
        [[1, 'secret walrus']],
      ])
    })
  })
}

describe.skipIf(noMongo !== undefined)(`conversations in MongoDB (${noMongo ?? 'here'})`, () => {
  it('[CONV10] an append and a deletion that a crash has cut in the middle are finished by the next process', async () => {
    const server = await startMongoServer()
    if ('unavailable' in server) throw new Error(server.unavailable)
    await using _ = server
    const uri = withName(server.uri)
    await using mongo = await openMongo(uri)
    const store = await openMongoChatStore(mongo)
    const [appended, deleted] = [newId('chat'), newId('chat')]
    for (const id of [appended, deleted]) {
      await store.create(ada, { id, title: 'T', workspaceId: null })
      await store.append(ada, id, [message('one')])
    }
    // As the first of their writes leaves them.
    const client = await new MongoClient(uri).connect()
    const chats = client.db().collection<{ _id: string }>('chats')
    const pending = {
      ...(await client.db().collection('chatMessages').findOne({ chatId: appended })),
      _id: 'msg_two',
      position: 2,
    }
    await chats.updateOne({ _id: appended }, { $set: { pending: [pending], messages: 2, unfinished: true } })
    await chats.updateOne({ _id: deleted }, { $set: { deleted: true, unfinished: true } })
    // Whoever reads before a restart sees them whole as well.
    expect(await store.find(ada, deleted)).toBeNull()
    await openMongoChatStore(mongo)
    expect(await chats.countDocuments({ unfinished: true })).toBe(0)
    expect(await client.db().collection('chatMessages').countDocuments({ chatId: deleted })).toBe(0)
    expect(await store.messages(ada, appended, { limit: 5 })).toMatchObject([
      { position: 1 },
      { position: 2, id: 'msg_two' },
    ])
    await client.close()
  })

  it('[CONV11] a server that is gone is SERVICE_UNAVAILABLE, and no word of its address is told', async () => {
    await expect(
      openMongo('mongodb://someone:secret@127.0.0.1:1/?serverSelectionTimeoutMS=100'),
    ).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'MongoDB is not available',
    })
  })
})

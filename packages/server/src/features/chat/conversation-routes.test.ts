import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@atelier/client'
import {
  type Body,
  chatEnhanced,
  deleteChat,
  readChats,
  renameChat,
  resumeChatStream,
  saveChat,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import { describeOnEveryDatabase } from '@atelier/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type ChatDatabase,
  type ChatTestServer,
  finish,
  foreignWorkspaceId,
  openChatDatabase,
  people,
  readAll,
  refusal,
  startChatTestServer,
  text,
  workspaceId,
} from './chat-test-server.ts'

describeOnEveryDatabase('conversations', (engine) => {
  let database: ChatDatabase
  let server: ChatTestServer

  beforeAll(async () => {
    database = await openChatDatabase(engine)
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    server = await startChatTestServer(database)
  })
  afterEach(async () => {
    await server[Symbol.asyncDispose]()
    await database.kysely.deleteFrom('chats').execute()
    await database.kysely.deleteFrom('runs').execute()
  })

  type Question = Partial<Body<typeof startChatStream>>

  const start = (body: Question = {}, client = server.client) =>
    client.stream(startChatStream, { body: { message: 'How are routes matched?', model: 'test', ...body } })

  async function ask(body: Question = {}, client = server.client) {
    const stream = await start(body, client)
    const chatId = stream.headers.get('x-chat-id') ?? ''
    return { chatId, runId: stream.headers.get('x-run-id') ?? '', ...(await readAll(stream)) }
  }

  async function messagesOf(chatId: string, client = server.client) {
    const read = await client.call(readChats, { query: { chatId } })
    if (read.kind !== 'chat') throw new Error('a chat was asked for')
    return read
  }

  async function list(
    query: { limit?: number; cursor?: string; search?: string; workspaceId?: string } = {},
  ) {
    const read = await server.client.call(readChats, { query })
    if (read.kind !== 'list') throw new Error('a list was asked for')
    return read
  }

  /** An answer that goes on for ever, until somebody stops it. */
  function endless(): void {
    server.scripts.set('test', async function* () {
      for (let number = 1; ; number += 1) {
        yield text(`${number} `)
        await wait(2)
      }
    })
  }

  /** An answer of so many parts that comes as fast as it is read. */
  function longAnswer(parts: number): void {
    server.scripts.set('test', async function* () {
      for (let number = 1; number <= parts; number += 1) {
        yield text(`${number} `)
        if (number % 10 === 0) await wait(1)
      }
      yield finish
    })
  }

  async function resume(client: Client, runId: string, lastEventId: number) {
    const { events } = await client.stream(resumeChatStream, { query: { runId, lastEventId } })
    const numbers: number[] = []
    const chunks = []
    for await (const { event, lastEventId: id } of events) {
      numbers.push(Number(id))
      chunks.push(event)
    }
    return { numbers, chunks }
  }

  describe('asking in a stored conversation', () => {
    it('[CONV1, RUN1] question and answer are stored with what is known about the answer', async () => {
      const { chatId, runId, last } = await ask({ workspaceId })
      const { chat, items } = await messagesOf(chatId)
      expect(chat).toMatchObject({
        title: 'How are routes matched?',
        model: 'test',
        workspaceId,
        messages: 2,
        runId: null,
      })
      expect(items).toMatchObject([
        { position: 1, role: 'user', content: 'How are routes matched?', answer: null },
        {
          position: 2,
          role: 'assistant',
          content: 'Routes are matched in [src/router.ts:12-14].',
          answer: {
            runId,
            model: 'test',
            provider: 'test/test',
            finishReason: 'stop',
            cost: '0.000134',
            usage: { outputTokens: 7 },
            citations: [{ path: 'src/router.ts', startLine: 12, endLine: 14 }],
            attempts: [{ model: 'test', outcome: 'answered' }],
            ragContext: { workspaceId, relevanceScore: 'high', status: 'active' },
          },
        },
      ])
      expect(last).toMatchObject({ done: true, chatId, messageId: items[1]?.id })
    })

    it('[CONV2] the next question goes to any model with the turns before it, and about the same workspace', async () => {
      const { chatId } = await ask({ message: 'My name is Ada.', workspaceId })
      const { headers } = await ask({ chatId, message: 'Who am I?', model: 'second' })
      expect(headers.get('x-rag-status')).toBe('active')
      const prompt = JSON.stringify(server.asked.at(-1)?.call.prompt)
      expect(prompt).toContain('My name is Ada.')
      expect(prompt).toContain('Routes are matched in')
      expect(await messagesOf(chatId)).toMatchObject({ chat: { model: 'second', messages: 4 } })
    })

    it.each([
      ['an unknown model', { model: 'nobody' }, 400],
      ['a foreign workspace', { workspaceId: foreignWorkspaceId }, 404],
      ['a question that is too long', { message: 'word '.repeat(39_000) }, 400],
      ['an empty question', { message: ' \n' }, 400],
      ['an unknown conversation', { chatId: 'chat_01JD8XQ4ZK3V5N6P7R8S9T0ABC' }, 404],
    ])('[CONV3] %s is told before anything is stored', async (_, body, status) => {
      await expect(ask(body)).rejects.toMatchObject({ status })
      expect((await list()).items).toEqual([])
      expect(server.asked).toEqual([])
    })

    it('[CONV1] a question whose answer fails is kept, and the failure with it', async () => {
      server.scripts.set('test', refusal)
      await expect(ask()).rejects.toMatchObject({ status: 502 })
      const [chat] = (await list()).items
      const { items } = await messagesOf(chat?.id ?? '')
      expect(items).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: '', answer: { finishReason: 'error', model: null, usage: null } },
      ])
    })

    it('[CONV1] an answer that cannot be stored is not told as complete', async () => {
      endless()
      const { headers, events } = await start()
      const chatId = headers.get('x-chat-id') ?? ''
      const reading = readAll({ headers, events })
      await database.kysely.deleteFrom('chats').where('id', '=', chatId).execute()
      await server.client.call(stopChatStream, { query: { runId: headers.get('x-run-id') ?? '' } })
      expect((await reading).last).toMatchObject({
        done: true,
        finishReason: 'error',
        error: { code: 'SERVICE_UNAVAILABLE' },
      })
    })
  })

  describe('a run', () => {
    it('[RUN2] is resumed from any place without a gap or a repeat, while it runs and after its end', async () => {
      longAnswer(200)
      const { headers, events } = await start()
      const runId = headers.get('x-run-id') ?? ''
      const during = [0, 1, 57].map((place) => resume(server.client, runId, place))
      const whole = await readAll({ headers, events })
      const places = [0, 1, 57, 0, 100, 200, 201]
      const resumed = [
        ...(await Promise.all(during)),
        ...(await Promise.all([0, 100, 200, 201].map((place) => resume(server.client, runId, place)))),
      ]
      for (const [index, { numbers, chunks }] of resumed.entries()) {
        const place = places[index] ?? 0
        expect(numbers).toEqual(Array.from({ length: 201 - place }, (_, at) => place + at + 1))
        expect(chunks).toEqual(whole.chunks.slice(place))
      }
    })

    it('[RUN2] Last-Event-ID is a header too, and one that is no number is 400', async () => {
      const { runId } = await ask()
      const get = (id: string) =>
        fetch(`${server.url}/api/chat/stream?runId=${runId}`, { headers: { 'last-event-id': id } })
      expect(await (await get('3')).text()).toMatch(/^id: 4\ndata: \{"done":true/)
      expect((await get('x')).status).toBe(400)
    })

    it('[RUN2] survives a restart of the server', async () => {
      const { runId, chunks } = await ask()
      await server[Symbol.asyncDispose]()
      server = await startChatTestServer(database)
      expect((await resume(server.client, runId, 0)).chunks).toEqual(chunks)
    })

    it('[RUN3] goes on when its reader leaves', async () => {
      longAnswer(100)
      const { headers, events } = await start()
      for await (const _ of events) break
      const { chunks } = await resume(server.client, headers.get('x-run-id') ?? '', 0)
      expect(chunks).toHaveLength(101)
      const { items } = await messagesOf(headers.get('x-chat-id') ?? '')
      expect(items[1]).toMatchObject({ answer: { finishReason: 'stop' } })
    })

    it('[RUN4] is stopped with its provider’s call, and what came is kept', async () => {
      endless()
      const { headers, events } = await start()
      const runId = headers.get('x-run-id') ?? ''
      const reading = readAll({ headers, events })
      await wait(50)
      expect(await server.client.call(stopChatStream, { query: { runId } })).toEqual({
        runId,
        state: 'stopped',
      })
      const { content, last } = await reading
      expect(last).toMatchObject({ done: true, finishReason: 'aborted', usage: { estimated: true } })
      expect(server.asked[0]?.call.abortSignal?.aborted).toBe(true)
      const { items } = await messagesOf(headers.get('x-chat-id') ?? '')
      expect(items[1]).toMatchObject({ content, answer: { finishReason: 'aborted' } })
      expect(await server.client.call(stopChatStream, { query: { runId } })).toEqual({
        runId,
        state: 'stopped',
      })
    })

    it('[RUN4] can be stopped before its first content', async () => {
      server.scripts.set('test', async function* (call) {
        yield* []
        await new Promise((resolve) => call.abortSignal?.addEventListener('abort', resolve))
      })
      const asking = ask()
      await expect.poll(() => server.asked.length).toBe(1)
      const [chat] = (await list()).items
      await server.client.call(stopChatStream, { query: { runId: chat?.runId ?? '' } })
      expect((await asking).chunks).toMatchObject([{ done: true, finishReason: 'aborted' }])
    })

    it('[RUN11] with early headers is known, stopped and resumed before its first content', async () => {
      server.scripts.set('test', async function* (call) {
        yield* []
        await new Promise((resolve) => call.abortSignal?.addEventListener('abort', resolve))
      })
      const { headers, events } = await start({ earlyHeaders: true })
      const runId = headers.get('x-run-id') ?? ''
      expect(await messagesOf(headers.get('x-chat-id') ?? '')).toMatchObject({
        chat: { runId },
        items: [{ role: 'user', content: 'How are routes matched?' }],
      })
      const resumed = resume(server.client, runId, 0)
      await server.client.call(stopChatStream, { query: { runId } })
      for (const { chunks } of [await readAll({ headers, events }), await resumed]) {
        expect(chunks).toMatchObject([{ done: true, finishReason: 'aborted' }])
      }
    })

    it('[RUN11] with early headers a failure before the first content is a chunk, and names its attempts', async () => {
      server.scripts.set('test', refusal)
      expect((await ask({ earlyHeaders: true })).chunks).toMatchObject([
        { done: true, error: { code: 'PROVIDER_ERROR' }, attempts: [{ status: 500 }, {}, {}] },
      ])
    })

    it('[RUN5] of somebody else, or none, is 404', async () => {
      const { runId } = await ask()
      const stranger = server.clientOf(people[1])
      for (const id of [runId, 'run_01JD8XQ4ZK3V5N6P7R8S9T0ABC']) {
        const query = { runId: id }
        await expect(stranger.stream(resumeChatStream, { query })).rejects.toMatchObject({ status: 404 })
        await expect(stranger.call(stopChatStream, { query })).rejects.toMatchObject({ status: 404 })
      }
    })

    it('[RUN5] in the making of somebody else is 404 too, and goes on', async () => {
      endless()
      const { headers } = await start()
      const query = { runId: headers.get('x-run-id') ?? '' }
      const stranger = server.clientOf(people[1])
      await expect(stranger.stream(resumeChatStream, { query })).rejects.toMatchObject({ status: 404 })
      await expect(stranger.call(stopChatStream, { query })).rejects.toMatchObject({ status: 404 })
      expect((await list()).items[0]).toMatchObject({ runId: query.runId })
      await server.client.call(stopChatStream, { query })
    })

    it('[RUN6] whose process dies is ended by the next, and what it said is kept', async () => {
      const { chatId } = await ask()
      // As a process that was killed leaves it: no end, and an old lease.
      const runId = 'run_01JD8XQ4ZK3V5N6P7R8S9T0DED'
      const run = {
        id: runId,
        user_id: people[0],
        chat_id: chatId,
        workspace_id: null,
        state: 'running' as const,
      }
      await database.kysely
        .insertInto('runs')
        .values({ ...run, lease_until: new Date(0) })
        .execute()
      const chunk = (content: string) =>
        JSON.stringify({
          content,
          model: 'test',
          provider: 'p',
          timestamp: new Date().toISOString(),
          ragActive: false,
          toolsEnabled: false,
          tokenCount: 1,
        })
      const tool = { id: 'c', name: 'grep', input: {}, state: 'running', summary: null }
      const timestamp = new Date().toISOString()
      const toolEvent = JSON.stringify({ tool, model: 'test', provider: 'p', timestamp })
      await database.kysely
        .insertInto('run_events')
        .values({
          run_id: runId,
          first_event: 1,
          last_event: 3,
          events: `[${chunk('Half ')},${toolEvent},${chunk('said')}]`,
        })
        .execute()
      await server[Symbol.asyncDispose]()
      server = await startChatTestServer(database)
      const { numbers, chunks } = await resume(server.client, runId, 1)
      expect(numbers).toEqual([2, 3, 4])
      expect(chunks.at(-1)).toMatchObject({ done: true, finishReason: 'interrupted' })
      const { chat, items } = await messagesOf(chatId)
      expect(items.at(-1)).toMatchObject({
        content: 'Half said',
        answer: { finishReason: 'interrupted', runId, tools: [{ name: 'grep', state: 'failed' }] },
      })
      expect(chat.runId).toBeNull()
      expect((await ask({ chatId })).last).toMatchObject({ finishReason: 'stop' })
    })

    it('[RUN7] is the only one of its conversation', async () => {
      endless()
      const { headers } = await start()
      const chatId = headers.get('x-chat-id') ?? ''
      await expect(start({ chatId })).rejects.toMatchObject({ status: 409, code: 'CONFLICT' })
      expect((await messagesOf(chatId)).items).toHaveLength(1)
      await server.client.call(stopChatStream, { query: { runId: headers.get('x-run-id') ?? '' } })
    })

    it('[RUN7] is one of twenty at most of its person', async () => {
      endless()
      const streams = await Promise.all(Array.from({ length: 20 }, () => start()))
      await expect(start()).rejects.toMatchObject({ status: 429, code: 'RATE_LIMITED' })
      const enhanced = { body: { message: 'Hello', model: 'test' } }
      await expect(server.client.stream(chatEnhanced, enhanced)).rejects.toMatchObject({ status: 429 })
      await readAll(
        await server.clientOf(people[1]).stream(chatEnhanced, { body: { message: 'Hi', model: 'second' } }),
      )
      for (const { headers } of streams) {
        await server.client.call(stopChatStream, { query: { runId: headers.get('x-run-id') ?? '' } })
      }
    })

    it('[RUN8] ends as interrupted when the server stops', async () => {
      endless()
      const { headers, events } = await start()
      const runId = headers.get('x-run-id') ?? ''
      const chatId = headers.get('x-chat-id') ?? ''
      for await (const _ of events) break
      await server[Symbol.asyncDispose]()
      server = await startChatTestServer(database)
      expect((await resume(server.client, runId, 0)).chunks.at(-1)).toMatchObject({
        done: true,
        finishReason: 'interrupted',
        error: { code: 'SERVICE_UNAVAILABLE' },
      })
      expect((await messagesOf(chatId)).items[1]).toMatchObject({ answer: { finishReason: 'interrupted' } })
    })
  })

  describe('stored conversations', () => {
    const create = (title: string, messages: Body<typeof saveChat>['messages'] = []) =>
      server.client.call(saveChat, { body: { title, messages } })

    it('[CONV4] are listed in pages, the last used first', async () => {
      const ids: string[] = []
      for (let number = 0; number < 5; number += 1) {
        ids.push((await create(`Chat ${number}`)).chat.id)
        await wait(2)
      }
      await server.client.call(saveChat, {
        body: { chatId: ids[1] ?? '', messages: [{ role: 'user', content: 'Again' }] },
      })
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page = await list({ limit: 2, ...(cursor === null ? {} : { cursor }) })
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(seen).toEqual([ids[1], ids[4], ids[3], ids[2], ids[0]])
    })

    it('[CONV4] are found by a text of their title or messages, in any case, whatever its characters', async () => {
      await create('About Tax%es')
      await create('Other', [{ role: 'user', content: 'What is a_b in ÄPFEL?' }])
      const found = async (search: string) => (await list({ search })).items.map(({ title }) => title)
      expect(await found('TAX%')).toEqual(['About Tax%es'])
      expect(await found('äpfel')).toEqual(['Other'])
      expect(await found('a_b')).toEqual(['Other'])
      expect(await found('a%b')).toEqual([])
      expect(await found('.*')).toEqual([])
    })

    it('[CONV4] are listed by workspace', async () => {
      await create('Elsewhere')
      await server.client.call(saveChat, { body: { title: 'Here', workspaceId } })
      expect((await list({ workspaceId })).items.map(({ title }) => title)).toEqual(['Here'])
    })

    it('[CONV5] are read from the newest page back', async () => {
      const messages = Array.from({ length: 7 }, (_, index) => ({
        role: 'user' as const,
        content: `m${index + 1}`,
      }))
      const { chat } = await create('Long', messages)
      const page = async (cursor?: string) => {
        const read = await server.client.call(readChats, {
          query: { chatId: chat.id, limit: 3, ...(cursor && { cursor }) },
        })
        if (read.kind !== 'chat') throw new Error('a chat was asked for')
        return read
      }
      const newest = await page()
      expect(newest.items.map(({ content }) => content)).toEqual(['m5', 'm6', 'm7'])
      const middle = await page(newest.nextCursor ?? '')
      expect(middle.items.map(({ content }) => content)).toEqual(['m2', 'm3', 'm4'])
      const oldest = await page(middle.nextCursor ?? '')
      expect(oldest.items.map(({ position }) => position)).toEqual([1])
      expect(oldest.nextCursor).toBeNull()
    })

    it('[CONV5] are exported as a document', async () => {
      const { chatId } = await ask({ message: 'Été: how are routes matched?', workspaceId })
      const read = await server.client.call(readChats, { query: { chatId, format: 'markdown' } })
      expect(read).toMatchObject({
        kind: 'document',
        fileName: 'Ete-how-are-routes-matched.md',
        content: expect.stringMatching(
          /^# Été: how[\s\S]*## Question[\s\S]*## Answer[\s\S]*test · 0\.000134 USD[\s\S]*Routes are[\s\S]*Sources:\n\n- src\/router\.ts:12-14/,
        ),
      })
    })

    it('[CONV6] take concurrent writers without gaps or doubles', async () => {
      const { chat } = await create('Busy')
      const append = (content: string) =>
        server.client.call(saveChat, {
          body: {
            chatId: chat.id,
            messages: [
              { role: 'user', content },
              { role: 'assistant', content },
            ],
          },
        })
      await Promise.all(Array.from({ length: 20 }, (_, index) => append(`w${index}`)))
      const { items } = await messagesOf(chat.id)
      expect(items.map(({ position }) => position)).toEqual(
        Array.from({ length: 40 }, (_, index) => index + 1),
      )
      for (let index = 0; index < 40; index += 2)
        expect(items[index]?.content).toBe(items[index + 1]?.content)
    })

    it('[CONV6] get their first question as title, and refuse what is for new ones', async () => {
      const long = `Please explain ${'this and that '.repeat(20)}`
      const { chat, items } = await server.client.call(saveChat, {
        body: { messages: [{ role: 'user', content: long }] },
      })
      expect(chat.title).toMatch(/^Please explain .{50,66}…$/)
      expect(items).toHaveLength(1)
      await expect(
        server.client.call(saveChat, { body: { chatId: chat.id, title: 'X' } }),
      ).rejects.toMatchObject({
        status: 400,
        details: { field: 'title' },
      })
    })

    it('[CONV7] are renamed and deleted', async () => {
      const { chatId } = await ask()
      expect(await server.client.call(renameChat, { body: { chatId, title: 'Routes' } })).toMatchObject({
        title: 'Routes',
      })
      await server.client.call(deleteChat, { query: { chatId } })
      await expect(messagesOf(chatId)).rejects.toMatchObject({ status: 404 })
      expect((await list()).items).toEqual([])
    })

    it('[CONV7] take their answer in the making with them', async () => {
      endless()
      const { headers } = await start()
      await server.client.call(deleteChat, { query: { chatId: headers.get('x-chat-id') ?? '' } })
      expect(server.asked[0]?.call.abortSignal?.aborted).toBe(true)
    })

    it('[CONV8] of somebody else are not there', async () => {
      const { chatId } = await ask()
      const stranger = server.clientOf(people[1])
      const notFound = { status: 404, code: 'NOT_FOUND' }
      await expect(messagesOf(chatId, stranger)).rejects.toMatchObject(notFound)
      await expect(ask({ chatId }, stranger)).rejects.toMatchObject(notFound)
      const message = { role: 'user' as const, content: 'Mine' }
      await expect(stranger.call(saveChat, { body: { chatId, messages: [message] } })).rejects.toMatchObject(
        notFound,
      )
      await expect(stranger.call(renameChat, { body: { chatId, title: 'Mine' } })).rejects.toMatchObject(
        notFound,
      )
      await expect(stranger.call(deleteChat, { query: { chatId } })).rejects.toMatchObject(notFound)
      expect(await messagesOf(chatId)).toMatchObject({
        chat: { title: 'How are routes matched?', messages: 2 },
      })
    })

    it.each([
      ['a cursor of another list', { cursor: 'x' }, 'cursor'],
      ['a format without a chat', { format: 'markdown' as const }, 'format'],
    ])('[CONV4] %s is refused by name', async (_, query, field) => {
      await expect(server.client.call(readChats, { query })).rejects.toMatchObject({
        status: 400,
        details: { field },
      })
    })
  })
})

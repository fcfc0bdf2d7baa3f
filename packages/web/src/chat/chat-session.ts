import type { Client } from '@atelier/client'
import {
  type ChatChunk,
  type ChatToolUse,
  readChats,
  resumeChatStream,
  type StoredChat,
  startChatStream,
  stopChatStream,
} from '@atelier/contract'
import { createStore, type Store } from '../lib/store.ts'
import { type FollowAnswerOptions, followAnswer } from './follow-answer.ts'
import { gatherText } from './gather-text.ts'
import { joinTurns, turnsOf } from './stored-turns.ts'
import { type Turn, withTool } from './turn.ts'

export interface Question {
  question: string
  model: string
  files: readonly string[]
  /** the model may look into the workspace by itself, where it can */
  tools: boolean
}

/** What is known about what the server has stored before the turns that are here. */
export type Reading =
  | { state: 'opening' }
  | { state: 'failed'; error: unknown }
  /** `earlier`: the cursor of the messages before; null where there are none */
  | { state: 'read'; earlier: string | null; more: 'idle' | 'reading' | 'failed' }

export interface ChatState {
  /** null until the first question is stored */
  chatId: string | null
  /** messages on the server when it was last read; another number means that somebody else has asked */
  messages: number
  turns: readonly Turn[]
  reading: Reading
}

/** One conversation: asks, follows, stops. It is stored at the server; at most one answer arrives at a time. */
export interface ChatSession {
  readonly store: Store<ChatState>
  /** the question that is being written: it stays while the panel is away */
  readonly draft: Store<string>
  /** Reads what is stored, and follows an answer in the making from its beginning. Does nothing while one arrives here. */
  read(): Promise<void>
  readEarlier(): Promise<void>
  ask(question: Question): Promise<void>
  /** Asks the last question once more. One that never reached the server gives way to it. */
  retry(how: Pick<Question, 'model' | 'tools'>): Promise<void>
  /** Stops the answer at the server, so that nothing more is paid for; what came is kept. */
  stop(): Promise<void>
}

export interface ChatSessionDeps {
  client: Client
  workspaceId: string
  /** null for a conversation that begins */
  chatId: string | null
  /** the first question is stored: the conversation has an id from now on */
  onStored: (chatId: string) => void
  /** something has changed that lists of conversations show */
  onChanged: () => void
  /** when gathered text is shown */
  schedule: (flush: () => void) => void
  wait: (milliseconds: number) => Promise<void>
  newId: () => string
  now: () => Date
}

/** Messages read at once. */
const messagesRead = 100

/** Longest that a stopped answer is waited for, to learn what it cost, in milliseconds. */
const stopPatienceMs = 3_000

/** Longest that the run of a question on its way is waited for, in milliseconds: the server first looks for passages. */
const runPatienceMs = 15_000

interface Running {
  controller: AbortController
  turnId: string
  /** the run's id, once it is known; null where the answer ended before */
  run: PromiseWithResolvers<string | null>
  ended: PromiseWithResolvers<void>
}

export function createChatSession(deps: ChatSessionDeps): ChatSession {
  const { client } = deps
  const store = createStore<ChatState>({
    chatId: deps.chatId,
    messages: 0,
    turns: [],
    reading: deps.chatId === null ? { state: 'read', earlier: null, more: 'idle' } : { state: 'opening' },
  })
  let running: Running | null = null
  let readingNow: Promise<void> | null = null

  const set = (change: Partial<ChatState>) => store.set((state) => ({ ...state, ...change }))

  function change(id: string, update: (turn: Turn) => Turn): void {
    store.set((state) => ({
      ...state,
      turns: state.turns.map((turn) => (turn.id === id ? update(turn) : turn)),
    }))
  }

  async function follow(
    turnId: string,
    openWith: (signal: AbortSignal) => FollowAnswerOptions['open'],
  ): Promise<void> {
    const own: Running = {
      controller: new AbortController(),
      turnId,
      run: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    }
    running = own
    const gathered = gatherText(deps.schedule, (text) =>
      change(turnId, (turn) => ({ ...turn, text: turn.text + text })),
    )
    const outcome = await followAnswer({
      client,
      open: openWith(own.controller.signal),
      onHeaders: (headers) => noteRun(own, headers),
      onEvent(event) {
        noteModel(turnId, event)
        if ('tool' in event) change(turnId, (turn) => ({ ...turn, tools: withTool(turn.tools, event.tool) }))
        else gathered.add(event.content)
      },
      signal: own.controller.signal,
      wait: deps.wait,
    })
    own.run.resolve(null)
    own.ended.resolve()
    gathered.flush()
    running = null
    change(turnId, (turn) => ({ ...turn, outcome }))
    if (store.get().turns.some((turn) => turn.id === turnId && isUnsent(turn))) countMessages(-2)
    deps.onChanged()
  }

  function countMessages(more: number): void {
    store.set((state) => ({ ...state, messages: state.messages + more }))
  }

  function noteRun({ turnId, run }: Running, headers: Headers): void {
    const runId = headers.get('x-run-id')
    const chatId = headers.get('x-chat-id')
    if (chatId !== null && store.get().chatId === null) {
      set({ chatId })
      deps.onStored(chatId)
    }
    if (runId === null) return
    change(turnId, (turn) => ({ ...turn, runId }))
    run.resolve(runId)
    deps.onChanged()
  }

  /** The chunks say who answers: after a fallback it is not who was asked. */
  function noteModel(id: string, { model, provider }: ChatChunk | ChatToolUse): void {
    const noted = store.get().turns.find((turn) => turn.id === id)?.answeredBy
    if (noted?.model === model && noted.provider === provider) return
    change(id, (turn) => ({ ...turn, answeredBy: { model, provider } }))
  }

  async function ask({ question, model, files, tools }: Question): Promise<void> {
    const { chatId, reading } = store.get()
    if (running !== null || reading.state !== 'read') return
    const turn = newTurn(deps, { question, model, files })
    // Question and answer: a failure is stored as an answer too.
    countMessages(2)
    store.set((state) => ({ ...state, turns: [...state.turns, turn] }))
    const body = {
      message: question,
      model,
      workspaceId: deps.workspaceId,
      enableTools: tools,
      earlyHeaders: true,
      ...(chatId === null ? {} : { chatId }),
      ...(files.length === 0 ? {} : { files: [...files] }),
    }
    await follow(turn.id, (signal) => () => client.stream(startChatStream, { body }, { signal }))
  }

  function read(): Promise<void> {
    readingNow ??= readOnce().finally(() => {
      readingNow = null
    })
    return readingNow
  }

  async function readOnce(): Promise<void> {
    const { chatId, reading } = store.get()
    if (chatId === null || running !== null) return
    if (reading.state === 'failed') set({ reading: { state: 'opening' } })
    try {
      const page = await client.call(readChats, { query: { chatId, limit: messagesRead } })
      if (page.kind !== 'chat' || running !== null) return
      await show(page.chat, page)
    } catch (error) {
      // What is shown stays; only a conversation that was never read has nothing to show.
      if (store.get().reading.state === 'opening') set({ reading: { state: 'failed', error } })
    }
  }

  async function show(
    chat: StoredChat,
    { items, nextCursor }: { items: Parameters<typeof turnsOf>[0]; nextCursor: string | null },
  ): Promise<void> {
    const { messages, reading, turns } = store.get()
    const known = reading.state === 'read' && messages === chat.messages
    if (!known) {
      const read = { state: 'read', earlier: nextCursor, more: 'idle' } as const
      set({
        messages: chat.messages,
        turns: [...turnsOf(items), ...turns.filter(isUnsent)],
        reading: read,
      })
    }
    const asked = store.get().turns.findLast((turn) => !isUnsent(turn))
    if (chat.runId === null || asked === undefined || asked.runId === chat.runId) return
    await resume(asked.id, chat.runId)
  }

  /** The run is told from its beginning. */
  async function resume(turnId: string, runId: string): Promise<void> {
    change(turnId, (turn) => ({
      ...turn,
      text: '',
      tools: [],
      runId,
      outcome: { state: 'streaming', stopping: false },
    }))
    // The answer that will be stored.
    countMessages(1)
    const query = { runId, lastEventId: 0 }
    await follow(turnId, (signal) => () => client.stream(resumeChatStream, { query }, { signal }))
  }

  async function readEarlier(): Promise<void> {
    const { chatId, reading } = store.get()
    if (chatId === null || reading.state !== 'read' || reading.earlier === null) return
    if (reading.more === 'reading') return
    set({ reading: { ...reading, more: 'reading' } })
    try {
      const query = { chatId, limit: messagesRead, cursor: reading.earlier }
      const page = await client.call(readChats, { query })
      if (page.kind !== 'chat') return
      store.set((state) => ({
        ...state,
        turns: joinTurns(turnsOf(page.items), state.turns),
        reading: { state: 'read', earlier: page.nextCursor, more: 'idle' },
      }))
    } catch {
      // The button stays and says so: what is shown is not touched.
      set({ reading: { ...reading, more: 'failed' } })
    }
  }

  async function stop(): Promise<void> {
    const own = running
    if (own === null) return
    change(own.turnId, (turn) => ({ ...turn, outcome: { state: 'streaming', stopping: true } }))
    // Before its headers a question may be on its way to a run that nobody could stop any more.
    const runId = await Promise.race([own.run.promise, deps.wait(runPatienceMs).then(() => null)])
    if (runId !== null) {
      try {
        await client.call(stopChatStream, { query: { runId } })
        await Promise.race([own.ended.promise, deps.wait(stopPatienceMs)])
      } catch {
        // A stop that does not reach the server still ends the reading here, which is what the person sees.
      }
    }
    if (running === own) own.controller.abort()
  }

  async function retry(how: Pick<Question, 'model' | 'tools'>): Promise<void> {
    const last = store.get().turns.at(-1)
    if (last === undefined || last.question === null || running !== null) return
    if (isUnsent(last)) store.set((state) => ({ ...state, turns: state.turns.slice(0, -1) }))
    await ask({ question: last.question, files: last.files, ...how })
  }

  return { store, draft: createStore(''), read, readEarlier, ask, retry, stop }
}

/** Refused before it was stored. */
function isUnsent({ runId, outcome }: Turn): boolean {
  return runId === null && outcome.state === 'failed'
}

function newTurn(deps: ChatSessionDeps, { question, model, files }: Omit<Question, 'tools'>): Turn {
  return {
    id: deps.newId(),
    question,
    files,
    askedModel: model,
    askedAt: deps.now().toISOString(),
    text: '',
    tools: [],
    answeredBy: null,
    runId: null,
    outcome: { state: 'streaming', stopping: false },
  }
}

import type { Client } from '@atelier/client'
import { chatEnhanced, resumeChatStream, stopChatStream } from '@atelier/contract'
import { createStore, type Store } from '../lib/store.ts'
import { type Conversation, emptyConversation, historyOf, type Turn } from './conversation.ts'
import { type FollowAnswerOptions, followAnswer } from './follow-answer.ts'

export interface Question {
  question: string
  model: string
  files: string[]
}

/** One conversation in one workspace: asks, follows, stops, retries. At most one answer arrives at a time. */
export interface ChatSession {
  readonly store: Store<Conversation>
  /** the question that is being written: it stays while the panel is away */
  readonly draft: Store<string>
  ask(question: Question): Promise<void>
  /** Asks the last question once more; its former answer gives way. */
  retry(model: string): Promise<void>
  /** Follows an answer on that was arriving when the page was left. */
  resume(): Promise<void>
  /** Stops the answer at the server, so that nothing more is paid for; what came is kept. */
  stop(): Promise<void>
  setModel(key: string): void
  /** Starts over and returns what was there, for `restore`. */
  clear(): Conversation
  restore(conversation: Conversation): void
}

export interface ChatSessionDeps {
  client: Client
  workspaceId: string
  store: Store<Conversation>
  /** when gathered text is shown: once a frame, so that a fast stream does not render for each chunk */
  schedule: (flush: () => void) => void
  wait: (milliseconds: number) => Promise<void>
  newId: () => string
  now: () => Date
}

/** Longest that a stopped answer is waited for, to learn what it cost, in milliseconds. */
const stopPatienceMs = 3_000

export function createChatSession(deps: ChatSessionDeps): ChatSession {
  const { client, store } = deps
  let running: { controller: AbortController; turnId: string } | null = null

  function change(id: string, update: (turn: Turn) => Turn): void {
    store.set((conversation) => ({
      ...conversation,
      turns: conversation.turns.map((turn) => (turn.id === id ? update(turn) : turn)),
    }))
  }

  async function follow(
    turnId: string,
    openWith: (signal: AbortSignal) => FollowAnswerOptions['open'],
  ): Promise<void> {
    const controller = new AbortController()
    const own = { controller, turnId }
    running = own
    const gathered = gather(deps.schedule, (text) =>
      change(turnId, (turn) => ({ ...turn, text: turn.text + text })),
    )
    const outcome = await followAnswer({
      client,
      open: openWith(controller.signal),
      onRun: (runId) => change(turnId, (turn) => ({ ...turn, runId })),
      onChunk: ({ content, model, provider }) => {
        gathered.add(content)
        noteModel(turnId, { model, provider })
      },
      signal: controller.signal,
      wait: deps.wait,
    })
    gathered.flush()
    change(turnId, (turn) => ({ ...turn, outcome }))
    if (running === own) running = null
  }

  /** The chunks say who answers: after a fallback it is not who was asked. */
  function noteModel(id: string, answeredBy: { model: string; provider: string }): void {
    const noted = turnOf(id)?.answeredBy
    if (noted?.model === answeredBy.model && noted.provider === answeredBy.provider) return
    change(id, (turn) => ({ ...turn, answeredBy }))
  }

  function turnOf(id: string): Turn | undefined {
    return store.get().turns.find((turn) => turn.id === id)
  }

  async function ask({ question, model, files }: Question): Promise<void> {
    if (running !== null) return
    const previousMessages = historyOf(store.get().turns)
    const turn = newTurn(deps, { question, model, files })
    store.set((conversation) => ({ ...conversation, turns: [...conversation.turns, turn] }))
    const context = {
      workspaceId: deps.workspaceId,
      previousMessages,
      ...(files.length === 0 ? {} : { files }),
    }
    const body = { message: question, model, context }
    await follow(turn.id, (signal) => () => client.stream(chatEnhanced, { body }, { signal }))
  }

  async function stop(): Promise<void> {
    if (running === null) return
    const { controller, turnId } = running
    const runId = turnOf(turnId)?.runId
    if (runId) {
      try {
        await client.call(stopChatStream, { query: { runId } })
        await deps.wait(stopPatienceMs)
      } catch {
        // A stop that does not reach the server still ends the reading here, which is what the person sees.
      }
    }
    controller.abort()
  }

  return {
    store,
    draft: createStore(''),
    ask,
    stop,
    async retry(model) {
      const last = store.get().turns.at(-1)
      if (last === undefined || running !== null) return
      store.set((conversation) => ({ ...conversation, turns: conversation.turns.slice(0, -1) }))
      await ask({ question: last.question, files: last.files, model })
    },
    async resume() {
      const last = store.get().turns.at(-1)
      if (running !== null || last?.outcome.state !== 'streaming' || last.runId === null) return
      const query = { runId: last.runId, lastEventId: 0 }
      await follow(last.id, (signal) => async () => {
        const stream = await client.stream(resumeChatStream, { query }, { signal })
        // The run is told from its beginning, so what is there gives way to it.
        change(last.id, (turn) => ({ ...turn, text: '' }))
        return stream
      })
    },
    setModel: (model) => store.set((conversation) => ({ ...conversation, model })),
    clear() {
      const former = store.get()
      void stop()
      running = null
      store.set({ ...emptyConversation, model: former.model })
      return former
    },
    restore: (conversation) => store.set(conversation),
  }
}

function newTurn(deps: ChatSessionDeps, { question, model, files }: Question): Turn {
  return {
    id: deps.newId(),
    question,
    files,
    askedModel: model,
    askedAt: deps.now().toISOString(),
    text: '',
    answeredBy: null,
    runId: null,
    outcome: { state: 'streaming' },
  }
}

/** Gathers text until the next frame. */
function gather(schedule: ChatSessionDeps['schedule'], show: (text: string) => void) {
  let waiting = ''
  const flush = () => {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    show(text)
  }
  const add = (text: string) => {
    if (text === '') return
    if (waiting === '') schedule(flush)
    waiting += text
  }
  return { add, flush }
}

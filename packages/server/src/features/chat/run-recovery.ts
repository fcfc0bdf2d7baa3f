import type { ChatFailed, ChatReset, ChatStreamEvent, ToolUse } from '@atelier/contract'
import type { RunStore, StoredRun } from './run-store.ts'
import type { RunWriter } from './run-writer.ts'

/** Puts what an answer had said before it was lost into its conversation. */
export type KeepLostAnswer = (run: StoredRun, lost: LostAnswer) => Promise<void>

export interface LostAnswer {
  content: string
  /** what was called for it, by id, as far as it is known */
  tools: Map<string, ToolUse>
}

export interface RunRecovery extends AsyncDisposable {
  /** Ends what is lost now, and looks again and again. */
  start(): Promise<void>
  run(): Promise<void>
}

/** How often lost runs are looked for, and old ones deleted, in milliseconds. */
const lookMilliseconds = 30_000
const deleteMilliseconds = 60 * 60_000

/** Ends runs whose process has died: a last event says so, and what was said is kept. */
export function createRunRecovery(dependencies: {
  store: RunStore
  writer: RunWriter
  keepLostAnswer: KeepLostAnswer
  isLive: (runId: string) => boolean
  alone: boolean
  logger: { error(fields: object, message: string): void; warn(fields: object, message: string): void }
}): RunRecovery {
  const { store, writer, keepLostAnswer, isLive, alone, logger } = dependencies
  const timers: NodeJS.Timeout[] = []

  async function run(options: { everyRun: boolean } = { everyRun: false }): Promise<void> {
    for (const lost of await store.takeLost(options)) {
      if (!isLive(lost.id)) await end(lost)
    }
  }

  async function end(lost: StoredRun): Promise<void> {
    logger.warn({ runId: lost.id }, 'a run is lost')
    let place = 0
    const answer: LostAnswer = { content: '', tools: new Map() }
    for (;;) {
      const frames = (await store.eventsAfter(lost.id, place)).filter(({ id }) => id > place)
      if (frames.length === 0) break
      for (const { json } of frames) add(answer, JSON.parse(json) as ChatStreamEvent | ChatReset)
      place = frames.at(-1)?.id ?? place
    }
    await keepLostAnswer(lost, answer)
    const chunk = failedChunk(lost.id, 'interrupted', 'The server stopped while it answered')
    writer.append(lost.id, place + 1, JSON.stringify(chunk))
    writer.progress({ runId: lost.id, state: 'lost', lastEvent: place + 1 })
    await writer.settled(lost.id)
  }

  function every(milliseconds: number, work: () => Promise<void>): void {
    const timer = setInterval(() => {
      work().catch((error: unknown) => logger.error({ err: error }, 'looking after runs failed'))
    }, milliseconds)
    timers.push(timer.unref())
  }

  return {
    async start() {
      await run({ everyRun: alone })
      every(lookMilliseconds, run)
      every(deleteMilliseconds, () => store.deleteOld())
    },
    run,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

function add(answer: LostAnswer, event: ChatStreamEvent | ChatReset): void {
  if ('reset' in event) answer.content = ''
  else if ('tool' in event) answer.tools.set(event.tool.id, event.tool)
  else if ('content' in event) answer.content += event.content
}

/** The last chunk of an answer that something else than its provider ended. */
export function failedChunk(
  runId: string,
  finishReason: 'error' | 'interrupted',
  message: string,
): ChatFailed {
  return { error: { code: 'INTERNAL_ERROR', message }, done: true, finishReason, runId, attempts: [] }
}

import { AppError } from '../../base/app-error.ts'
import type { AnswerRequest, WholeAnswer } from '../gateway/index.ts'
import { answerChunks, type KeepAnswer } from './answer-chunks.ts'
import {
  type AnswerContext,
  type ChatRequest,
  type ContextDependencies,
  prepareQuestion,
} from './answer-context.ts'
import type { LiveRun, Runs } from './runs.ts'
import { streamWithTools, type ToolAnswer } from './tool-loop.ts'
import type { ToolResult } from './workspace-tools.ts'

export interface ChatStream {
  context: AnswerContext
  run: LiveRun
  /** resolves when what is kept of the question is stored */
  stored: Promise<void>
  /** resolves with the first content, rejects when there will be none */
  begun: Promise<void>
}

export interface ChatWhole {
  context: AnswerContext
  answer: WholeAnswer
}

/** What a stored conversation does around an answer. */
export interface AnswerKeeping {
  chatId: string
  /** before the model is asked */
  begin(): Promise<void>
  /** before readers hear the end */
  keep: KeepAnswer
}

export interface ChatService {
  /**
   * Throws what is wrong with the request. The answer is a run: it goes on when its reader leaves.
   */
  stream(request: ChatRequest, keeping?: (context: AnswerContext) => AnswerKeeping): Promise<ChatStream>
  /** The answer ends when `signal` aborts, with its reader. */
  whole(request: ChatRequest, signal: AbortSignal): Promise<ChatWhole>
}

export function createChatService(dependencies: ContextDependencies & { runs: Runs }): ChatService {
  const { gateway, runs } = dependencies
  return {
    async stream(request, keepingOf) {
      const { context, question } = await prepareQuestion(dependencies, request)
      const keeping = keepingOf?.(context)
      const stored = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      // They are awaited later, or not at all when the reader leaves first.
      for (const { promise } of [stored, begun]) promise.catch(() => undefined)
      const run = await runs.start(
        {
          id: context.runId,
          userId: question.userId,
          chatId: keeping?.chatId ?? null,
          workspaceId: context.workspaceId,
        },
        (signal) => {
          const storing = begin()
          stored.resolve(storing)
          const answer = storing.then(() => ask({ ...question, signal }))
          answer.then(() => begun.resolve(), begun.reject)
          return answerChunks({
            context,
            answer,
            signal,
            keep: keeping?.keep ?? (async ({ chunk }) => chunk),
          })
        },
      )
      return { context, run, stored: stored.promise, begun: begun.promise }

      async function begin(): Promise<void> {
        await keeping?.begin()
      }

      async function ask(asked: AnswerRequest): Promise<ToolAnswer> {
        const { tools, promptAfter } = context
        if (tools === null) return { ...(await gateway.stream(asked, request)), steps: [] }
        const onResult = ({ passages }: ToolResult) => context.addPassages(passages)
        return streamWithTools({ gateway, request: asked, tools, promptAfter, onResult })
      }
    },

    async whole(request, signal) {
      const { context, question } = await prepareQuestion(dependencies, request)
      const answer = await gateway.whole({ ...question, signal }).catch((error: unknown) => {
        if (error instanceof AppError || !signal.aborted) throw error
        // A caller that has left is no failure of ours.
        throw new AppError('INVALID_REQUEST', 'The connection ended before the answer', { cause: error })
      })
      return { context, answer }
    },
  }
}

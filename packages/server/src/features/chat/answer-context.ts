import type { Citation, ModelRecord } from '@atelier/contract'
import { newId } from '../../base/ids.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AnswerRequest, Gateway, ModelPrompt, ModelQuery } from '../gateway/index.ts'
import type { AnswerStep } from './answer-steps.ts'
import { citationsOf } from './citations.ts'
import type { Conversation } from './conversation.ts'
import {
  type GatheredContext,
  gatherContext,
  noContext,
  type RagStatus,
  ragStatusOf,
} from './gather-context.ts'
import type { BuiltPrompt, PromptBuilder } from './prompt-builder.ts'
import type { ContextSource, FileSource, Passage } from './workspace-context.ts'
import { createWorkspaceTools, type ToolSources, type WorkspaceTools } from './workspace-tools.ts'

export interface ChatRequest {
  principal: Principal
  /** the stored conversation that the question belongs to */
  chatId?: string
  conversation: Conversation
  models: ModelQuery
  /** a stream that breaks off begins again with the next model */
  restart: boolean
  workspaceId: string | undefined
  /** paths of files whose content the question is about */
  files: readonly string[]
  temperature: number | undefined
  maxTokens: number | undefined
  /** parameter that holds the question, for errors */
  questionField: string
  /** the model may call tools on the workspace, where it can */
  enableTools: boolean
  requestId: string
}

/** What is known about an answer beside its text. */
export interface AnswerContext {
  runId: string
  workspaceId: string | null
  relevanceScore: GatheredContext['retrieval']['relevanceScore']
  /** the model that is being asked, or that has answered */
  model(): ModelRecord
  /** of the prompt that this model got */
  ragStatus(): RagStatus
  /** null: none, because they were not asked for, or the model or a workspace is missing */
  tools: WorkspaceTools | null
  /** whether the model that is being asked has them */
  toolsEnabled(): boolean
  /** The prompt for a model, with what tools have given since at its end. */
  promptAfter(steps: readonly AnswerStep[], model: ModelRecord): Promise<ModelPrompt>
  /** From now on these may be cited. */
  addPassages(passages: readonly Passage[]): void
  citationsIn(text: string): Citation[]
}

/** A question with everything that its answer needs. */
export interface PreparedQuestion {
  context: AnswerContext
  question: Omit<AnswerRequest, 'signal'>
}

/** Lets a principal into a workspace. Throws NOT_FOUND for somebody else's. */
export type WorkspaceGuard = (
  principal: Principal,
  workspaceId: string,
  role: 'viewer',
) => Promise<WorkspaceScope>

export interface ContextDependencies {
  gateway: Gateway
  guard: WorkspaceGuard
  retrieval: ContextSource
  files: FileSource
  prompts: PromptBuilder
  toolSources: ToolSources
  logger: { error(fields: object, message: string): void }
}

/** Tokens of passages for one question: part of the model's window, and bounds that serve small and huge windows. */
const passagesShare = 0.25
const fewestPassageTokens = 1_000
const mostPassageTokens = 12_000

/**
 * Model selection, then retrieval, then the prompt of the first model; the others' are built when they are tried.
 * Throws what is wrong with the request.
 */
export async function prepareQuestion(
  dependencies: ContextDependencies,
  request: ChatRequest,
): Promise<PreparedQuestion> {
  const choice = dependencies.gateway.choose(request.models)
  const [first, ...others] = choice.candidates
  const scope = await scopeOf(dependencies, request)
  const gathered = await contextOf(dependencies, request, { scope, model: first })
  const tools = toolsFor(dependencies, request, { scope, model: first })
  const found: Passage[] = []
  let model = first
  let used: readonly Passage[] = []
  const built = new Map<string, BuiltPrompt>()
  const asked = {
    question: request.conversation.question,
    unavailable: gathered.retrieval.status === 'unavailable',
  }

  async function build(candidate: ModelRecord): Promise<BuiltPrompt> {
    const made =
      built.get(candidate.key) ??
      (await dependencies.prompts.build(candidate, {
        ...request,
        ...gathered,
        tools: tools !== null && candidate.capabilities.tools,
      }))
    built.set(candidate.key, made)
    model = candidate
    used = made.passages
    return made
  }

  // Told before anything is written or asked, unless another model may have a larger window.
  if (others.length === 0) await build(first)
  const workspaceId = request.workspaceId ?? null
  const runId = newId('run')
  return {
    context: {
      runId,
      workspaceId,
      relevanceScore: gathered.retrieval.relevanceScore,
      model: () => model,
      ragStatus: () => ragStatusOf(gathered, used),
      tools,
      toolsEnabled: () => tools !== null && model.capabilities.tools,
      async promptAfter(steps, candidate) {
        const made = await build(candidate)
        return toModelPrompt({ ...made, prompt: await made.after(steps) }, asked)
      },
      addPassages: (passages) => void found.push(...passages),
      citationsIn: (text) => citationsOf(text, [...used, ...found]),
    },
    question: {
      choice,
      prompt: async (candidate) => toModelPrompt(await build(candidate), asked),
      settings: request.temperature === undefined ? {} : { temperature: request.temperature },
      maxTokens: request.maxTokens,
      runId,
      requestId: request.requestId,
      userId: request.principal.userId,
      workspaceId,
      apiKeyId: request.principal.kind === 'api-key' ? request.principal.apiKeyId : null,
    },
  }
}

/** Our local model composes its answer from the passages themselves; the other providers ignore this namespace. */
function toModelPrompt(
  { prompt, passages }: Pick<BuiltPrompt, 'prompt' | 'passages'>,
  { question, unavailable }: { question: string; unavailable: boolean },
): ModelPrompt {
  const atelier = { question, unavailable, passages: passages.map((passage) => ({ ...passage })) }
  return { prompt, providerOptions: { atelier } }
}

async function scopeOf(
  { guard }: ContextDependencies,
  { principal, workspaceId }: ChatRequest,
): Promise<WorkspaceScope | null> {
  return workspaceId === undefined ? null : guard(principal, workspaceId, 'viewer')
}

interface Place {
  scope: WorkspaceScope | null
  model: ModelRecord
}

function toolsFor(
  { guard, retrieval, files, toolSources: sources, logger }: ContextDependencies,
  { enableTools, principal }: ChatRequest,
  { scope, model }: Place,
): WorkspaceTools | null {
  if (!enableTools || scope === null || !model.capabilities.tools) return null
  const { contextWindow } = model
  const enter = () => guard(principal, scope.workspaceId, 'viewer')
  return createWorkspaceTools({ scope, enter, retrieval, files, sources, contextWindow, logger })
}

async function contextOf(
  dependencies: ContextDependencies,
  { files: names, conversation, requestId }: ChatRequest,
  { scope, model }: Place,
): Promise<GatheredContext> {
  if (scope === null) return { ...noContext, missingFiles: names }
  const window = model.contextWindow ?? 0
  const budgetTokens = Math.min(mostPassageTokens, Math.max(fewestPassageTokens, window * passagesShare))
  return gatherContext({
    ...dependencies,
    scope,
    question: conversation.question,
    budgetTokens: Math.floor(budgetTokens),
    names,
    requestId,
  })
}

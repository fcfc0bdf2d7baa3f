import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { invalidField } from '../../base/app-error.ts'
import { type AnswerStep, fitResults, stepMessages } from './answer-steps.ts'
import type { Conversation, Turn } from './conversation.ts'
import { fitHistory, textOfPart, withoutSteps } from './fit-history.ts'
import { mostTokens, type TokenCounter } from './token-counter.ts'
import { createRoom, type Room, tokensPerMessage } from './token-room.ts'
import type { Passage } from './workspace-context.ts'
import {
  createBoundaries,
  formatMaterial,
  formatPassage,
  materialRules,
  toolRules,
} from './workspace-material.ts'

/** What a prompt must fit into. */
export interface ModelWindow {
  key: string
  name: string
  /** tokens; null where nobody tells */
  contextWindow: number | null
  maxOutputTokens: number | null
}

export interface PromptRequest {
  /** the stored conversation that the question belongs to */
  chatId?: string | undefined
  conversation: Conversation
  /** files the person named, whole, in passages */
  files: readonly Passage[]
  /** what retrieval found, best first */
  passages: readonly Passage[]
  missingFiles: readonly string[]
  /** the model may call tools on the workspace */
  tools: boolean
  /** most tokens of the answer that the caller wants */
  maxTokens: number | undefined
  /** parameter that holds the question, for an error */
  questionField: string
}

export interface BuiltPrompt {
  prompt: LanguageModelV4Prompt
  /** what of the files and passages the model was given */
  passages: Passage[]
  /** turns of the history that were shortened to a line each or left out */
  condensedTurns: number
  /** The prompt with what was called and found since at its end, in the room that is kept for it. */
  after(steps: readonly AnswerStep[]): Promise<LanguageModelV4Prompt>
}

export interface PromptBuilder {
  /**
   * Fits a conversation and what is known about its question into a model's window. The question always goes in
   * whole; then passages, then the newest turns, then the beginnings of older ones. Throws VALIDATION_ERROR for the
   * question's field when the question alone does not fit.
   */
  build(model: ModelWindow, request: PromptRequest): Promise<BuiltPrompt>
}

/** Tokens of a model whose window is not known: the smallest that current servers run models with. */
export const smallestWindow = 8_192

/** Tokens kept for an answer whose length the caller does not limit. */
const usualAnswer = 8_192

/** Part of the window that stays free: vendors' encoders differ from ours, by a fifth for code. */
const safetyMargin = 0.15

/** Part of what is left after the question that passages may take. */
const passagesShare = 0.5

/** Part of what is left after the question that is kept for what tools give. */
const toolsShare = 0.4

/** Left-out parts that are named: enough to know what to ask for. */
const mostLeftOutNamed = 20

const identity = [
  'You are the assistant of Atelier, a platform where people write software. Answer questions about programming and',
  'about the code of their workspace. Be correct first, then brief. Answer in the language of the question and in',
  'Markdown; put code into fenced blocks with the language named. Say plainly what you do not know.',
].join('\n')

export function createPromptBuilder({ tokens }: { tokens: TokenCounter }): PromptBuilder {
  const boundaryOf = createBoundaries()
  return {
    async build(model, request) {
      const { files, passages: found, missingFiles, tools, conversation } = request
      const quotes = tools || files.length + found.length + missingFiles.length > 0
      const boundary = quotes ? boundaryOf(request.chatId) : ''
      const system = systemPrompt(request, boundary)
      const capacity = inputTokens(model, request.maxTokens)
      const content =
        !tools && surelyFits(system, request, capacity)
          ? everything(request)
          : await fit(system, request, createRoom(capacity, tokens), model.name)
      const material = quotes ? formatMaterial(boundary, { ...content, missingFiles }) : ''
      const { turns, condensed, passages, forTools } = content
      const place = { model: model.key, boundary }
      const prompt = toPrompt({ system, turns, condensed, material, question: conversation.question, place })
      return {
        prompt,
        passages,
        condensedTurns: conversation.history.length - turns.length,
        async after(steps) {
          const room = createRoom(forTools, tokens)
          await room.take(steps.flatMap(({ parts }) => parts.map(textOfPart)))
          const fitted = await fitResults(steps, (text) => room.take([text]))
          return [...prompt, ...fitted.flatMap((step) => stepMessages(step, place))]
        },
      }
    },
  }
}

/** What goes into a prompt. */
interface Content {
  passages: Passage[]
  /** parts of the named files that do not */
  leftOut: Passage[]
  turns: readonly Turn[]
  /** the beginnings of the turns that do not */
  condensed: string
  /** tokens that are kept for what tools give */
  forTools: number
}

function everything({ files, passages, conversation }: PromptRequest): Content {
  const turns = conversation.history.map(withoutSteps)
  return { passages: [...files, ...passages], leftOut: [], turns, condensed: '', forTools: 0 }
}

async function fit(system: string, request: PromptRequest, room: Room, model: string): Promise<Content> {
  const { files, passages, conversation, questionField, tools } = request
  if (!(await room.take([system, conversation.question]))) {
    const needed = await room.cost([system, conversation.question])
    throw invalidField(
      questionField,
      `has about ${needed} tokens together with its instructions; ${model} takes at most ${room.capacity} here`,
    )
  }
  const kept = tools ? room.keep(toolsShare) : 0
  const roomForPassages = room.part(passagesShare)
  const fitting = await fitPassages([...files, ...passages], roomForPassages)
  await room.take(fitting.map((passage) => formatPassage(passage, 1)))
  const history = tools ? conversation.history : conversation.history.map(withoutSteps)
  return {
    passages: fitting,
    leftOut: files.filter((file) => !fitting.includes(file)).slice(0, mostLeftOutNamed),
    ...(await fitHistory(history, room)),
    forTools: kept,
  }
}

function systemPrompt({ conversation, tools }: PromptRequest, boundary: string): string {
  const parts = [identity]
  if (tools) parts.push(toolRules)
  if (conversation.instructions !== '') {
    parts.push(`The person asks you to follow this in the whole conversation:\n${conversation.instructions}`)
  }
  if (boundary !== '') parts.push(materialRules(boundary))
  return parts.join('\n\n')
}

function inputTokens(model: ModelWindow, maxTokens: number | undefined): number {
  const window = model.contextWindow ?? smallestWindow
  const answer = Math.min(maxTokens ?? usualAnswer, model.maxOutputTokens ?? window, Math.floor(window / 2))
  return Math.floor((window - answer) * (1 - safetyMargin))
}

/** True when even the cheap upper bound fits: then nothing needs to be counted. */
function surelyFits(system: string, request: PromptRequest, capacity: number): boolean {
  const { conversation, files, passages } = request
  let most = mostTokens(system) + mostTokens(conversation.question) + 2 * tokensPerMessage
  for (const turn of conversation.history) most += mostTokens(turn.text) + tokensPerMessage
  for (const passage of [...files, ...passages]) most += mostTokens(formatPassage(passage, 1))
  return most <= capacity
}

async function fitPassages(passages: readonly Passage[], room: Room): Promise<Passage[]> {
  const fitting: Passage[] = []
  for (const passage of passages) {
    if (await room.take([formatPassage(passage, 1)])) fitting.push(passage)
  }
  return fitting
}

function toPrompt(parts: {
  system: string
  turns: readonly Turn[]
  condensed: string
  material: string
  question: string
  place: { model: string; boundary: string }
}): LanguageModelV4Prompt {
  const { system, turns, condensed, material, question, place } = parts
  const asked = [material, question].filter((text) => text !== '').join('\n\n')
  const spoken: Turn[] = [...turns, { role: 'user', text: asked }]
  const messages = spoken.flatMap((turn, index) => {
    if (turn.steps !== undefined) return turn.steps.flatMap((step) => stepMessages(step, place))
    const text = index === 0 && condensed !== '' ? `${condensed}\n\n${turn.text}` : turn.text
    return [toMessage(turn.role, text)]
  })
  return [{ role: 'system', content: system }, ...messages]
}

function toMessage(role: Turn['role'], text: string): LanguageModelV4Message {
  return { role, content: [{ type: 'text', text }] }
}

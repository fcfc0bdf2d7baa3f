import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { z } from 'zod'

/** Lines of a file that retrieval found, best first; one-based, both ends included. */
export const LocalPassage = z.object({
  path: z.string(),
  startLine: z.number().int().min(1),
  endLine: z.number().int().min(1),
  content: z.string(),
  language: z.string().nullish(),
})
export type LocalPassage = z.infer<typeof LocalPassage>

const LocalOptions = z.object({
  passages: z.array(LocalPassage).default([]),
  /** the question alone, where the message around it has more */
  question: z.string().optional(),
})

export interface LocalRequest {
  question: string
  /** earlier questions of the person, newest first */
  earlier: string[]
  passages: LocalPassage[]
}

/**
 * What the local model works with. Passages and question come under `providerOptions.atelier`, a namespace that other
 * models ignore. Without it the whole last message is the question.
 */
export function localRequestOf(
  call: Pick<LanguageModelV4CallOptions, 'prompt' | 'providerOptions'>,
): LocalRequest {
  const asked = call.prompt.filter((message) => message.role === 'user')
  const last = asked.at(-1)
  const options = LocalOptions.safeParse(call.providerOptions?.atelier ?? {})
  const { passages, question } = options.success ? options.data : { passages: [], question: undefined }
  return {
    question: (question ?? textOf(last)).trim(),
    earlier: asked.slice(0, -1).map(textOf).reverse(),
    passages,
  }
}

/** All text that a model would be given, for counting. */
export function promptText(prompt: LanguageModelV4Prompt): string {
  return prompt.map((message) => (message.role === 'system' ? message.content : textOf(message))).join('\n')
}

function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (message === undefined || message.role === 'system') return message?.content ?? ''
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

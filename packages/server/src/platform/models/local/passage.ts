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
  /** passages could not be looked for */
  unavailable: z.boolean().default(false),
})

export interface LocalRequest {
  question: string
  /** earlier questions of the person, newest first */
  earlier: string[]
  passages: LocalPassage[]
  /** passages could not be looked for */
  unavailable: boolean
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
  const { passages, question, unavailable } = options.success ? options.data : LocalOptions.parse({})
  return {
    question: (question ?? textOf(last)).trim(),
    earlier: asked.slice(0, -1).map(textOf).reverse(),
    passages,
    unavailable,
  }
}

/** All text that a model would be given, for counting. */
export function promptText(prompt: LanguageModelV4Prompt): string {
  return prompt.map((message) => (message.role === 'system' ? message.content : textOf(message))).join('\n')
}

function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (message === undefined || message.role === 'system') return message?.content ?? ''
  return message.content.map(textOfPart).join('')
}

function textOfPart(part: Exclude<LanguageModelV4Prompt[number]['content'], string>[number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text
  if (part.type === 'tool-call') return JSON.stringify(part.input)
  if (part.type !== 'tool-result' || !('value' in part.output)) return ''
  const { value } = part.output
  return typeof value === 'string' ? value : JSON.stringify(value)
}

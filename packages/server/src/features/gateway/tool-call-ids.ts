import { createHash } from 'node:crypto'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'

/**
 * What a provider takes as the id of a call. Mistral's is the narrowest that is documented; the rest is what OpenAI and
 * Anthropic both take.
 */
const validIds: Readonly<Record<string, RegExp>> = { mistral: /^[a-zA-Z0-9]{9}$/ }
const usualIds = /^[a-zA-Z0-9_-]{1,40}$/

/**
 * Calls and their results with ids that the provider takes, each once in the conversation: they may come from another
 * provider, or from a server that counts anew in every answer. Ids that are valid stay, since a provider may know them.
 */
export function withValidToolCallIds(prompt: LanguageModelV4Prompt, provider: string): LanguageModelV4Prompt {
  const valid = validIds[provider] ?? usualIds
  const taken = new Set<string>()
  /** id of the conversation -> id of the latest call that has it, for the provider */
  const translated = new Map<string, string>()

  function idFor(id: string): string {
    let own = id
    for (let count = 0; !valid.test(own) || taken.has(own); count += 1) own = hashedId(`${id} ${count}`)
    taken.add(own)
    translated.set(id, own)
    return own
  }

  return prompt.map((message) => {
    if (message.role === 'assistant') {
      const content = message.content.map((part) =>
        part.type === 'tool-call' ? { ...part, toolCallId: idFor(part.toolCallId) } : part,
      )
      return { ...message, content }
    }
    if (message.role !== 'tool') return message
    const content = message.content.map((part) =>
      part.type === 'tool-result'
        ? { ...part, toolCallId: translated.get(part.toolCallId) ?? part.toolCallId }
        : part,
    )
    return { ...message, content }
  })
}

/** Nine letters and digits, which every provider takes. */
function hashedId(text: string): string {
  const hash = createHash('sha256').update(text).digest()
  return BigInt(`0x${hash.toString('hex')}`)
    .toString(36)
    .slice(0, 9)
}

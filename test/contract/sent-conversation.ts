import type { ProviderRequest } from '@atelier/testkit'
import { expect } from 'vitest'

/** The ways in which conversations are sent. */
export type Wire = 'responses' | 'anthropic' | 'google' | 'mistral' | 'chat'

/** What a provider was sent, in one form. */
export interface SentConversation {
  /** texts, calls and results in their order, without reasoning and instructions */
  turns: unknown[]
  reasoning: unknown[]
  calls: { id: string; input: unknown }[]
  results: { id: string; text: string }[]
}

type Json = Record<string, unknown>

/** Reads a request as its provider would. Fails where the protocol's rules about calls and results are broken. */
export function sentConversation(wire: Wire, { path, body }: ProviderRequest): SentConversation {
  const sent = readers[wire](body, path)
  const ids = sent.calls.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(idsOf[wire])
  expect(sent.results.map(({ id }) => id)).toEqual(ids)
  return sent
}

/** As the providers document them; Google pairs by order and name. */
const idsOf: Record<Wire, RegExp> = {
  responses: /^[\w-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]+$/,
  google: /^/,
  mistral: /^[a-zA-Z0-9]{9}$/,
  chat: /^[\w-]{1,40}$/,
}

const readers: Record<Wire, (body: Json, path: string) => SentConversation> = {
  responses: ({ input, store }, path) => {
    expect(path).toContain('/responses')
    const items = input as Json[]
    // A reference is void with the key of another account, so nothing is kept there to be referred to.
    expect(store).toBe(false)
    expect(items.filter(({ type }) => type === 'item_reference')).toEqual([])
    const callItems = items.filter(({ type }) => type === 'function_call')
    const outputs = items.filter(({ type }) => type === 'function_call_output')
    return {
      turns: items.filter(
        ({ type, role }) => type !== 'reasoning' && role !== 'developer' && role !== 'system',
      ),
      reasoning: items.filter(({ type }) => type === 'reasoning'),
      calls: callItems.map((item) => ({
        id: String(item.call_id),
        input: JSON.parse(String(item.arguments)),
      })),
      results: outputs.map((item) => ({ id: String(item.call_id), text: String(item.output) })),
    }
  },
  anthropic: ({ messages }, path) => {
    expect(path).toContain('/messages')
    const turns = messages as { role: string; content: Json[] }[]
    expectAlternating(turns.map(({ role }) => role))
    const blocks = turns.flatMap(({ content }) => content)
    for (const [index, { content }] of turns.entries()) {
      const uses = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
      const answered = (turns[index + 1]?.content ?? []).filter(({ type }) => type === 'tool_result')
      expect(answered.map(({ tool_use_id }) => tool_use_id)).toEqual(uses)
    }
    return {
      turns: blocks.filter(({ type }) => type !== 'thinking'),
      reasoning: blocks.filter(({ type }) => type === 'thinking'),
      calls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, input }) => ({ id: String(id), input })),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => ({ id: String(block.tool_use_id), text: textOf(block.content) })),
    }
  },
  google: ({ contents }, path) => {
    expect(path).toContain('/v1beta/')
    const turns = contents as { role: string; parts: Json[] }[]
    expectAlternating(turns.map(({ role }) => role))
    const partsOf = (parts: readonly Json[], kind: string) =>
      parts.flatMap((part) => (part[kind] === undefined ? [] : [part[kind] as Json]))
    for (const [index, { parts }] of turns.entries()) {
      const called = partsOf(parts, 'functionCall').map(({ name }) => name)
      const answered = partsOf(turns[index + 1]?.parts ?? [], 'functionResponse').map(({ name }) => name)
      expect(answered).toEqual(called)
    }
    const parts = turns.flatMap((content) => content.parts)
    const responses = partsOf(parts, 'functionResponse')
    return {
      turns: parts.filter(({ thought }) => thought !== true),
      reasoning: parts.filter(({ thought }) => thought === true),
      calls: partsOf(parts, 'functionCall').map(({ args }, index) => ({ id: String(index), input: args })),
      results: responses.map(({ response }, index) => ({
        id: String(index),
        text: JSON.stringify(response),
      })),
    }
  },
  mistral: (body, path) => chatCompletions(body, path),
  chat: (body, path) => chatCompletions(body, path),
}

function chatCompletions({ messages }: Json, path: string): SentConversation {
  expect(path).toContain('/chat/completions')
  const turns = (messages as Json[]).filter(({ role }) => role !== 'system' && role !== 'developer')
  const callsOf = (message: Json | undefined) =>
    (message?.tool_calls ?? []) as { id: string; function: Json }[]
  for (const [index, message] of turns.entries()) {
    const ids = callsOf(message).map(({ id }) => id)
    const next = turns.slice(index + 1, index + 1 + ids.length)
    expect(next.map(({ tool_call_id }) => tool_call_id)).toEqual(ids)
  }
  return {
    turns: turns.map(({ reasoning: _, reasoning_content: __, ...rest }) => rest),
    reasoning: turns.flatMap(({ reasoning, reasoning_content }) => reasoning ?? reasoning_content ?? []),
    calls: turns
      .flatMap(callsOf)
      .map((call) => ({ id: call.id, input: JSON.parse(String(call.function.arguments)) })),
    results: turns
      .filter(({ role }) => role === 'tool')
      .map((message) => ({ id: String(message.tool_call_id), text: textOf(message.content) })),
  }
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** Two turns of one role in a row are refused by several providers. */
function expectAlternating(roles: readonly string[]): void {
  for (const [index, role] of roles.entries()) expect(role).not.toBe(roles[index - 1])
  expect(roles[0]).toBe('user')
}

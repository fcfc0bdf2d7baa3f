import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import type { Body, createChatCompletion, OpenAiMessage } from '@atelier/contract'
import { invalidField } from '../../base/app-error.ts'
import type { CallSettings } from './answer.ts'

type Completion = Body<typeof createChatCompletion>

/**
 * OpenAI's messages in the form that every provider takes: instructions first, as several families know them only there.
 * Throws VALIDATION_ERROR for a tool's answer that nobody asked for, and for arguments that are no JSON.
 */
export function promptFrom(messages: readonly OpenAiMessage[]): LanguageModelV4Prompt {
  const instructions: string[] = []
  const prompt: LanguageModelV4Prompt = []
  const toolNames = new Map<string, string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'developer') instructions.push(textOf(message.content))
    else if (message.role === 'user') prompt.push({ role: 'user', content: userParts(message.content) })
    else if (message.role === 'assistant') prompt.push(assistantMessage(message, index, toolNames))
    else addToolResult(prompt, message, index, toolNames)
  }
  const system = instructions.filter((text) => text !== '').join('\n\n')
  return system === '' ? prompt : [{ role: 'system', content: system }, ...prompt]
}

type Content = string | { type: 'text'; text: string }[]

function textOf(content: Content): string {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('')
}

type UserContent = Extract<OpenAiMessage, { role: 'user' }>['content']

function userParts(content: UserContent): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    const [, mediaType = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(part.image_url.url) ?? []
    return { type: 'file', mediaType, data: { type: 'data', data } }
  })
}

function assistantMessage(
  message: Extract<OpenAiMessage, { role: 'assistant' }>,
  index: number,
  toolNames: Map<string, string>,
): LanguageModelV4Prompt[number] {
  const text = textOf(message.content ?? '')
  const calls = (message.tool_calls ?? []).map((call, place) => {
    toolNames.set(call.id, call.function.name)
    const field = `messages.${index}.tool_calls.${place}.function.arguments`
    const input = parseArguments(call.function.arguments, field)
    return { type: 'tool-call' as const, toolCallId: call.id, toolName: call.function.name, input }
  })
  return { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls] }
}

function parseArguments(json: string, field: string): unknown {
  try {
    return json.trim() === '' ? {} : JSON.parse(json)
  } catch {
    throw invalidField(field, 'must be JSON')
  }
}

/** Answers of tools that were called together stand in one message. */
function addToolResult(
  prompt: LanguageModelV4Prompt,
  message: Extract<OpenAiMessage, { role: 'tool' }>,
  index: number,
  toolNames: ReadonlyMap<string, string>,
): void {
  const toolName = toolNames.get(message.tool_call_id)
  if (toolName === undefined) {
    throw invalidField(
      `messages.${index}.tool_call_id`,
      'names no tool call of an assistant message before it',
    )
  }
  const output = { type: 'text' as const, value: textOf(message.content) }
  const part = { type: 'tool-result' as const, toolCallId: message.tool_call_id, toolName, output }
  const last = prompt.at(-1)
  if (last?.role === 'tool') last.content.push(part)
  else prompt.push({ role: 'tool', content: [part] })
}

/** Everything else of a request that a model can follow. */
export function settingsFrom(body: Completion): CallSettings {
  const settings: { [Name in keyof CallSettings]: CallSettings[Name] | undefined } = {
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    stopSequences: body.stop == null ? undefined : [body.stop].flat(),
    seed: body.seed ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    tools: body.tools?.length ? body.tools.map(toolFrom) : undefined,
    toolChoice: body.tool_choice == null ? undefined : toolChoiceFrom(body.tool_choice),
    responseFormat: responseFormatFrom(body.response_format),
  }
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as CallSettings
}

function toolFrom({ function: tool }: NonNullable<Completion['tools']>[number]): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    inputSchema: tool.parameters ?? { type: 'object', properties: {} },
    ...(tool.description == null ? {} : { description: tool.description }),
    ...(tool.strict == null ? {} : { strict: tool.strict }),
  }
}

function toolChoiceFrom(choice: NonNullable<Completion['tool_choice']>): LanguageModelV4ToolChoice {
  if (typeof choice === 'string') return { type: choice }
  return { type: 'tool', toolName: choice.function.name }
}

function responseFormatFrom(
  format: Completion['response_format'],
): LanguageModelV4CallOptions['responseFormat'] {
  if (format == null || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json' }
  const { schema, name, description } = format.json_schema
  return {
    type: 'json',
    ...(schema == null ? {} : { schema }),
    ...(name == null ? {} : { name }),
    ...(description == null ? {} : { description }),
  }
}

import type { FinishReason } from '@atelier/contract'

interface ToolFacts {
  toolCallId: string
  dynamic: true
  providerExecuted: true
}

/** The chunks of the AI SDK's UI message stream, protocol v1, that an answer here consists of. */
export type UIMessageChunk =
  | { type: 'start'; messageId: string; messageMetadata: object }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | ({ type: 'tool-input-available'; toolName: string; input: unknown } & ToolFacts)
  | ({ type: 'tool-output-available'; output: unknown } & ToolFacts)
  | ({ type: 'tool-output-error'; errorText: string } & ToolFacts)
  | {
      type: 'source-document'
      sourceId: string
      mediaType: string
      title: string
      filename: string
      providerMetadata: { atelier: object }
    }
  | { type: 'message-metadata'; messageMetadata: object }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason: string }
  | { type: 'finish'; finishReason: Exclude<FinishReason, 'aborted'>; messageMetadata: object }

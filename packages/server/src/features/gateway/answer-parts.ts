import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { AnswerPart } from './answer.ts'

/** Puts the parts of an answer together from the pieces of its stream. */
export interface AnswerParts {
  add(piece: LanguageModelV4StreamPart): void
  parts(): AnswerPart[]
}

/** Reasoning keeps the last metadata that its pieces bring: signatures come at the end. */
export function createAnswerParts(): AnswerParts {
  const parts: AnswerPart[] = []
  const open = new Map<string, AnswerPart & { type: 'reasoning' }>()

  function text(delta: string): void {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += delta
    else parts.push({ type: 'text', text: delta })
  }

  function reasoning(id: string, delta: string, metadata: AnswerMetadata): void {
    const known = open.get(id)
    if (known !== undefined) {
      known.text += delta
      known.metadata = metadata ?? known.metadata
      return
    }
    const part = { type: 'reasoning' as const, text: delta, metadata }
    open.set(id, part)
    parts.push(part)
  }

  return {
    add(piece) {
      if (piece.type === 'text-delta') text(piece.delta)
      else if (piece.type === 'reasoning-start') reasoning(piece.id, '', piece.providerMetadata)
      else if (piece.type === 'reasoning-delta') reasoning(piece.id, piece.delta, piece.providerMetadata)
      else if (piece.type === 'reasoning-end') reasoning(piece.id, '', piece.providerMetadata)
      else if (piece.type === 'tool-call') {
        const { toolCallId: id, toolName: name, input, providerMetadata: metadata } = piece
        parts.push({ type: 'tool-call', call: { id, name, input, metadata } })
      }
    },
    parts: () => parts,
  }
}

type AnswerMetadata = (AnswerPart & { type: 'reasoning' })['metadata']

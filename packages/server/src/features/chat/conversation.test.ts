import type { ChatMessage } from '@atelier/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { toConversation } from './conversation.ts'

const message = (role: ChatMessage['role'], content: string): ChatMessage => ({ role, content })

describe('canonical conversation', () => {
  it('[CHAT7] instructions are taken apart, neighbours joined, empty messages dropped', () => {
    const conversation = toConversation(
      [
        message('system', 'Be brief.'),
        message('user', 'Hello'),
        message('user', 'there'),
        message('assistant', '  '),
        message('assistant', 'Hi.'),
        message('system', 'Speak French.'),
        message('user', 'What is a monad?'),
      ],
      'messages',
    )
    expect(conversation).toEqual({
      instructions: 'Be brief.\n\nSpeak French.',
      history: [
        { role: 'user', text: 'Hello\n\nthere' },
        { role: 'assistant', text: 'Hi.' },
      ],
      question: 'What is a monad?',
    })
  })

  it.each([
    ['an answer last', [message('user', 'a'), message('assistant', 'b')]],
    ['only instructions', [message('system', 'a')]],
    ['only spaces', [message('user', ' \n')]],
  ])('[CHAT7] a conversation without a question at its end is refused by field: %s', (_, messages) => {
    expect(() => toConversation(messages, 'messages')).toThrow(AppError)
    try {
      toConversation(messages, 'messages')
    } catch (error) {
      expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'messages' } })
    }
  })

  it('[CHAT7] whatever the order of roles, turns alternate, begin with the user and keep every text', () => {
    const messages = fc.array(
      fc.record({
        role: fc.constantFrom('system' as const, 'user' as const, 'assistant' as const),
        content: fc.string({ minLength: 1 }).map((text) => `<${text}>`),
      }),
    )
    fc.assert(
      fc.property(messages, (before) => {
        const { instructions, history, question } = toConversation([...before, message('user', 'Why?')], 'm')
        const all = [instructions, ...history.map((turn) => turn.text), question].join('\n\n')
        for (const { content } of before) expect(all).toContain(content)
        const roles = [...history.map((turn) => turn.role), 'user']
        for (const [index, role] of roles.entries()) expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant')
      }),
    )
  })
})

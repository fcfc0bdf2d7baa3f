import type { StoredChat } from '@atelier/contract'
import type { MessageRow } from './chat-store.ts'

/** A conversation as a Markdown document, for a person to keep. */
export function chatDocument(
  chat: Pick<StoredChat, 'title' | 'createdAt'>,
  messages: readonly MessageRow[],
): { fileName: string; content: string } {
  const parts = messages.map(describeMessage)
  return {
    fileName: `${fileNameOf(chat.title)}.md`,
    content: `# ${chat.title}\n\nBegun ${chat.createdAt}.\n\n${parts.join('\n\n')}\n`,
  }
}

function describeMessage({ role, content, answer, createdAt }: MessageRow): string {
  const time = createdAt.toISOString()
  if (role === 'user') return `## Question\n\n${time}\n\n${content}`
  const facts = [
    answer?.model,
    answer?.cost == null ? undefined : `${answer.cost} USD`,
    ending(answer?.finishReason),
  ]
  const known = [time, ...facts.filter((fact) => fact != null)].join(' · ')
  return `## Answer\n\n${known}\n\n${content === '' ? '(no answer)' : content}`
}

/** Only an end that a reader must know of. */
function ending(finishReason: string | undefined): string | undefined {
  return finishReason === 'stop' ? undefined : finishReason
}

/** Letters, digits and dashes, which every file system takes. */
function fileNameOf(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return name === '' ? 'chat' : name
}

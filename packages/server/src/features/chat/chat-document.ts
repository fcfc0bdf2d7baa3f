import type { AnswerFacts, Citation, StoredChat } from '@atelier/contract'
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
  const notes = [
    list('Tools', answer?.tools.map(describeTool)),
    list('Sources', answer?.citations.map(placeOf)),
  ]
  return ['## Answer', known, content === '' ? '(no answer)' : content, ...notes]
    .filter((part) => part !== '')
    .join('\n\n')
}

function list(title: string, lines: readonly string[] = []): string {
  return lines.length === 0 ? '' : `${title}:\n\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function describeTool({ name, input, summary }: AnswerFacts['tools'][number]): string {
  return `\`${name} ${JSON.stringify(input)}\`${summary === null ? '' : `: ${summary}`}`
}

function placeOf({ path, startLine, endLine }: Citation): string {
  return `${path}:${startLine}-${endLine}`
}

/** Only an end that a reader must know of. */
function ending(finishReason: string | undefined): string | undefined {
  return finishReason === 'stop' ? undefined : finishReason
}

/** Letters, digits and dashes, which every file system takes. */
function fileNameOf(title: string): string {
  const name = title
    .normalize('NFKD')
    .replace(/[\u0300-\u036F]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return name === '' ? 'chat' : name
}

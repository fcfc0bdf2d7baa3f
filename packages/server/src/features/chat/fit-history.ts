import type { AnswerPart } from '../gateway/index.ts'
import type { Turn } from './conversation.ts'
import type { Room } from './token-room.ts'

/** Part of the room for history that the beginnings of old turns may take. */
const condensedShare = 0.1

/** Characters that are kept of a condensed turn. */
const condensedLength = 160

/** The newest turns whole; of older ones a line each, as far as there is room. */
export async function fitHistory(
  history: readonly Turn[],
  room: Room,
): Promise<{ turns: readonly Turn[]; condensed: string }> {
  const forWhole = room.part(1 - condensedShare)
  const forCondensed = room.part(condensedShare)
  let first = history.length
  let turns: Turn[] = []
  // Two at a time: a question without its answer would make two questions in a row.
  while (first >= 2) {
    const pair = history.slice(first - 2, first)
    const fitting = await firstFitting([pair, pair.map(withoutSteps)], forWhole)
    if (fitting === undefined) break
    turns = [...fitting, ...turns]
    first -= 2
  }
  const lines: string[] = []
  for (const turn of history.slice(0, first).toReversed()) {
    const line = condense(turn)
    if (!(await forCondensed.take([line]))) break
    lines.unshift(line)
  }
  return { turns, condensed: describeCondensed(lines, first) }
}

async function firstFitting(versions: readonly Turn[][], room: Room): Promise<Turn[] | undefined> {
  for (const turns of versions) if (await room.take(turns.flatMap(textsOf))) return turns
  return undefined
}

/** What a turn costs: the text of an answer that called tools is in its steps. */
function textsOf({ text, steps }: Turn): string[] {
  if (steps === undefined) return [text]
  return steps.flatMap(({ parts, results }) => [
    ...parts.map(textOfPart),
    ...results.map((result) => result.text),
  ])
}

export function textOfPart(part: AnswerPart): string {
  return part.type === 'tool-call' ? `${part.call.name} ${part.call.input}` : part.text
}

export function withoutSteps({ role, text }: Turn): Turn {
  return { role, text }
}

function condense({ role, text }: Turn): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const short = line.length > condensedLength ? `${line.slice(0, condensedLength)}…` : line
  return `- ${role === 'user' ? 'person' : 'you'}: ${short}`
}

function describeCondensed(lines: readonly string[], left: number): string {
  if (left === 0) return ''
  const omitted = left - lines.length
  const head = `[${left} earlier messages of this conversation do not fit any more.`
  if (lines.length === 0) return `${head}]`
  const note = omitted > 0 ? ` The beginnings of the last ${lines.length} of them:` : ' Their beginnings:'
  return `${head}${note}\n${lines.join('\n')}]`
}

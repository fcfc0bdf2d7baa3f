import { splitMarkdownBlocks } from './markdown-blocks.ts'
import type { Turn } from './turn.ts'

/** Reads the arriving answer out, one finished block at a time: a live region of every chunk would stutter. */
export function AnswerAnnouncer({ turn }: { turn: Turn | undefined }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {turn === undefined ? '' : announcementOf(turn)}
    </div>
  )
}

function announcementOf({ outcome, text, tools }: Turn): string {
  const blocks = splitMarkdownBlocks(text)
  switch (outcome.state) {
    case 'streaming':
      if (blocks.length >= 2) return plain(blocks.at(-2) ?? '')
      return tools.at(-1)?.state === 'running' ? 'The model looks into the code.' : 'The answer is arriving.'
    case 'done':
      if (outcome.finishReason === 'aborted') return 'The answer was stopped.'
      return `${plain(blocks.at(-1) ?? '')} End of the answer.`
    case 'stopped':
      return 'The answer was stopped.'
    case 'failed':
    case 'missing':
      return ''
  }
}

/** Markdown without its marks; code is announced, not read. */
function plain(markdown: string): string {
  return /^\s*(```|~~~)/.test(markdown) ? 'Code block.' : markdown.replaceAll(/[*_`#>|]/g, '').trim()
}

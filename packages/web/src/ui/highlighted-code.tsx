import { memo, useEffect, useState } from 'react'
import { type CodeToken, highlightLines, plainLines } from '../lib/highlight.ts'

export interface HighlightedCodeProps {
  code: string
  /** a language's name, as after the fence of a code block */
  language?: string
  /** or a file's name to know it by */
  fileName?: string
  className?: string | undefined
  /** whether it can scroll, and so must be reached by keyboard */
  scrolls?: boolean
  /** number of the first line; absent: no numbers */
  firstLine?: number
}

/** Static code in colour: plain at once, coloured when its language has been loaded. Never changes its size. */
export const HighlightedCode = memo(function HighlightedCode(props: HighlightedCodeProps) {
  const { code, language = '', fileName, className, firstLine, scrolls = false } = props
  const [coloured, setColoured] = useState<{ code: string; lines: CodeToken[][] } | null>(null)

  useEffect(() => {
    let left = false
    void highlightLines(code, language, fileName).then(
      (lines) => left || setColoured({ code, lines }),
      // A language that fails to load leaves the code plain, which is still the code.
      () => undefined,
    )
    return () => {
      left = true
    }
  }, [code, language, fileName])

  const lines = coloured === null ? plainLines(code) : mergeArrived(coloured, code)
  return (
    <pre className={className} tabIndex={scrolls ? 0 : undefined}>
      <code>
        {lines.map((tokens, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their number
          <span key={index} data-line={firstLine === undefined ? undefined : firstLine + index}>
            {tokens.map(({ text, className: tokenClass }, position) =>
              tokenClass === '' ? (
                text
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place
                <span key={position} className={tokenClass}>
                  {text}
                </span>
              ),
            )}
            {index < lines.length - 1 && '\n'}
          </span>
        ))}
      </code>
    </pre>
  )
})

/** While code arrives, what is coloured already stays so, and what is new is plain until its turn. */
function mergeArrived(coloured: { code: string; lines: CodeToken[][] }, code: string): CodeToken[][] {
  if (coloured.code === code) return coloured.lines
  if (!code.startsWith(coloured.code)) return plainLines(code)
  const [rest = '', ...more] = code.slice(coloured.code.length).split('\n')
  const last = coloured.lines.at(-1) ?? []
  return [
    ...coloured.lines.slice(0, -1),
    [...last, { text: rest, className: '' }],
    ...more.map((text) => [{ text, className: '' }]),
  ]
}

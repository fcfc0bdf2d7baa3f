import { useCallback, useEffect, useRef, useState } from 'react'
import type { LineRange } from '../lib/line-range.ts'
import { useIde } from '../shell/use-ide.ts'
import styles from './chat.module.css'
import { CitationPreview } from './citation-preview.tsx'

export interface CitationChipProps {
  path: string
  lines: LineRange | null
  /** SHA-256 of the file that was cited, to tell whether it has changed since */
  contentSha256?: string
  /** the whole path, not only the file's name */
  full?: boolean
}

/** A pointer that rests this long wants to see, in milliseconds. */
const restMs = 250

/** `rate-limiter.ts:12-40`: shows the lines on hover or focus, opens the file there on click. */
export function CitationChip({ path, lines, contentSha256, full = false }: CitationChipProps) {
  const { openFile, href } = useIde()
  const chip = useRef<HTMLAnchorElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => {
    clearTimeout(timer.current)
    setOpen(false)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  const wait = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOpen(true), restMs)
  }
  const range = lines === null ? '' : `:${lines.start}${lines.end === lines.start ? '' : `-${lines.end}`}`
  const name = full ? path : path.slice(path.lastIndexOf('/') + 1)
  return (
    <>
      <a
        ref={chip}
        className={styles.chip}
        href={href({ file: path, lines, scratch: null })}
        aria-label={`${path}${range}`}
        data-citation={`${path}${range}`}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          close()
          openFile(path, lines)
        }}
        onPointerEnter={(event) => event.pointerType === 'mouse' && wait()}
        onPointerLeave={close}
        onFocus={(event) => event.target.matches(':focus-visible') && wait()}
        onBlur={close}
      >
        {name}
        <span>{range}</span>
      </a>
      {open && (
        <CitationPreview
          anchor={chip}
          path={path}
          lines={lines}
          contentSha256={contentSha256}
          onClose={close}
        />
      )}
    </>
  )
}

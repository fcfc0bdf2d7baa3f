import { useEffect, useEffectEvent, useRef } from 'react'
import type { LineRange } from '../lib/line-range.ts'
import type { CodeEditor } from './code-editor.ts'
import styles from './files.module.css'

export interface CodeViewProps {
  text: string
  /** a file's name, from which the language is known */
  fileName: string
  lines: LineRange | null
  /** told when the reader marks lines by their numbers */
  onLines: (lines: LineRange) => void
}

/** A read-only editor on the text; the editor's code is loaded when the first file is opened. */
export function CodeView({ text, fileName, lines, onLines }: CodeViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | null>(null)
  const tell = useEffectEvent(onLines)
  const markNow = useEffectEvent(() => editor.current?.mark(lines))

  useEffect(() => {
    let left = false
    const open = async () => {
      const { createCodeEditor } = await import('./code-editor.ts')
      if (left || host.current === null) return
      editor.current = createCodeEditor({
        parent: host.current,
        text,
        fileName,
        onLines: (marked) => tell(marked),
      })
      markNow()
    }
    void open()
    return () => {
      left = true
      editor.current?.destroy()
      editor.current = null
    }
  }, [text, fileName])

  useEffect(() => editor.current?.mark(lines), [lines])

  return <div ref={host} className={styles.editor} data-testid="code" />
}

import type { Citation } from '@atelier/contract'
import { useState } from 'react'
import styles from './chat.module.css'
import { CitationChip } from './citation-chip.tsx'

/** Sources shown before a person asks for the others. */
const firstSources = 5

export function AnswerSources({ citations }: { citations: readonly Citation[] }) {
  const [all, setAll] = useState(false)
  if (citations.length === 0) return null
  const shown = all || citations.length <= firstSources + 1 ? citations : citations.slice(0, firstSources)
  return (
    <section className={styles.sources} aria-label="Sources">
      {shown.map(({ path, startLine, endLine, contentSha256 }) => (
        <CitationChip
          key={`${path}:${startLine}-${endLine}`}
          path={path}
          lines={{ start: startLine, end: endLine }}
          contentSha256={contentSha256}
          full
        />
      ))}
      {shown.length < citations.length && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          {citations.length - shown.length} more
        </button>
      )}
    </section>
  )
}

import type { SearchResult } from '@atelier/contract'
import { FileIcon } from '../files/file-icon.tsx'
import { useIde } from '../shell/use-ide.ts'
import { HighlightedCode } from '../ui/highlighted-code.tsx'
import styles from './search.module.css'

/** Lines of a passage that are shown in the list. */
const previewLines = 5

const legNames = { vector: 'vector', lexical: 'words', path: 'path', symbol: 'symbol' } as const

/** One passage: where it is, its first lines, and by which legs it was found. */
export function SearchResultRow({ result }: { result: SearchResult }) {
  const { openFile } = useIde()
  const { path, startLine, endLine, content, similarity, legs } = result
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    <button
      type="button"
      className={styles.result}
      onClick={() => openFile(path, { start: startLine, end: endLine })}
    >
      <span className={styles.place}>
        <FileIcon name={name} />
        <strong>{name}</strong>
        <small>{path.slice(0, Math.max(0, path.length - name.length - 1))}</small>
        <span className={styles.lines}>
          {startLine}-{endLine}
        </span>
      </span>
      <HighlightedCode code={firstLines(content)} fileName={name} className={styles.preview} />
      <span className={styles.legs}>
        <span title="Where each way of searching ranks this passage">
          {legs.map(({ leg, rank }) => `${legNames[leg]} ${rank}`).join(' · ')}
        </span>
        {similarity !== null && (
          <span className={styles.similarity} title="Cosine similarity to what you asked">
            {similarity.toFixed(2)}
          </span>
        )}
      </span>
    </button>
  )
}

function firstLines(content: string): string {
  const lines = content.split('\n')
  const first = Math.max(
    0,
    lines.findIndex((line) => line.trim() !== ''),
  )
  return lines
    .slice(first, first + previewLines)
    .join('\n')
    .trimEnd()
}

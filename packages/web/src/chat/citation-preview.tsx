import type { RefObject } from 'react'
import type { LineRange } from '../lib/line-range.ts'
import { useFile } from '../lib/queries.ts'
import { useIde } from '../shell/use-ide.ts'
import { Badge, Loading } from '../ui/feedback.tsx'
import { HighlightedCode } from '../ui/highlighted-code.tsx'
import { Popover } from '../ui/popover.tsx'
import styles from './chat.module.css'

interface CitationPreviewProps {
  anchor: RefObject<HTMLElement | null>
  path: string
  lines: LineRange | null
  contentSha256: string | undefined
  onClose: () => void
}

/** Lines shown of a place: enough to know whether to open it. */
const mostLines = 14

export function CitationPreview({ anchor, path, lines, contentSha256, onClose }: CitationPreviewProps) {
  const { location } = useIde()
  const file = useFile(location.workspaceId, path)
  const changed =
    contentSha256 !== undefined && file.data !== undefined && file.data.revision !== contentSha256
  const first = lines?.start ?? 1
  return (
    <Popover
      anchor={anchor}
      onClose={onClose}
      label={`Preview of ${path}`}
      role="tooltip"
      className={styles.preview}
    >
      <header>
        <span>{path}</span>
        {changed && <Badge tone="warn">changed since</Badge>}
      </header>
      {file.isPending && <Loading label="Reading" />}
      {file.isError && <p>This file cannot be read: {file.error.message}</p>}
      {file.data !== undefined && (
        <HighlightedCode
          code={linesOf(file.data.content, first, lines?.end ?? first + mostLines)}
          fileName={path.slice(path.lastIndexOf('/') + 1)}
          firstLine={first}
        />
      )}
    </Popover>
  )
}

function linesOf(content: string, first: number, last: number): string {
  return content
    .split('\n')
    .slice(first - 1, Math.min(last, first - 1 + mostLines))
    .join('\n')
}

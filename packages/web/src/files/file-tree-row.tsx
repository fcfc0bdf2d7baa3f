import { ChevronRight, Ellipsis } from 'lucide-react'
import type { HTMLAttributes, ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { FileIcon } from './file-icon.tsx'
import type { TreeRow } from './file-tree.ts'
import styles from './files.module.css'

interface FileTreeRowProps {
  id: string
  row: TreeRow
  top: number
  active: boolean
  selected: boolean
  /** what is dragged would go into this folder */
  dropTarget: boolean
  onActivate: () => void
  onMenu: (left: number, top: number) => void
  /** takes the place of the name while it is typed */
  field: ReactNode
  drag: HTMLAttributes<HTMLDivElement>
}

/** Pixels of indentation for each level. */
const indent = 14

export function FileTreeRow(props: FileTreeRowProps) {
  const { id, row, top, active, selected, dropTarget, onActivate, onMenu, field, drag } = props
  const { entry, level, expanded, position, siblings } = row
  const isDirectory = entry.kind === 'directory'
  const aside = entry.indexing === 'skipped' || entry.indexing === 'failed'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the focus and takes the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree names it as its active descendant
    <div
      id={id}
      role="treeitem"
      aria-level={level}
      aria-expanded={isDirectory ? expanded : undefined}
      aria-selected={selected}
      aria-setsize={siblings}
      aria-posinset={position}
      title={entry.reason === null ? undefined : `${entry.path}: not searchable, ${entry.reason}`}
      className={classes(
        styles.row,
        active && styles.active,
        selected && styles.selected,
        aside && styles.aside,
        dropTarget && styles.dropTarget,
      )}
      style={{ top, paddingLeft: 8 + (level - 1) * indent }}
      onClick={field === null ? onActivate : undefined}
      onContextMenu={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (field === null) onMenu(event.clientX, event.clientY)
      }}
      {...(field === null ? drag : {})}
    >
      {Array.from({ length: level - 1 }, (_none, index) => index).map((index) => (
        <span key={index} className={styles.guide} style={{ left: 15 + index * indent }} />
      ))}
      {isDirectory ? (
        <ChevronRight size={14} className={classes(styles.chevron, expanded && styles.open)} aria-hidden />
      ) : (
        <FileIcon name={entry.name} />
      )}
      {field ?? <span className={styles.label}>{entry.name}</span>}
      {entry.indexing === 'pending' && <span className={styles.pending} title="Not yet searchable" />}
      {field === null && (
        <button
          type="button"
          tabIndex={-1}
          aria-hidden
          className={styles.rowMenu}
          title="Actions (menu key)"
          onClick={(event) => {
            event.stopPropagation()
            const box = event.currentTarget.getBoundingClientRect()
            onMenu(box.left, box.bottom)
          }}
        >
          <Ellipsis size={14} aria-hidden />
        </button>
      )}
    </div>
  )
}

import {
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useStore } from '../lib/store.ts'
import { useMedia } from '../lib/use-media.ts'
import { useIde } from '../shell/use-ide.ts'
import { ancestorsOf, type TreeRow, visibleRows } from './file-tree.ts'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import { FileTreeRow } from './file-tree-row.tsx'
import styles from './files.module.css'
import { treeKey } from './tree-keys.ts'

/** Rows drawn beyond the visible ones on either side, so that a quick scroll shows no gaps. */
const overscan = 12

/** Time within which typed characters belong to one name, in milliseconds. */
const typeAheadMs = 700

/** The tree: only rows in sight are in the document, so that thousands of files stay fluid. */
export function FileTreeList() {
  const { tree, expanded: expandedStore, readDirectory } = useWorkspaceFiles()
  const { location, openFile } = useIde()
  const expanded = useStore(expandedStore)
  const rows = useMemo(() => visibleRows(tree, expanded), [tree, expanded])
  const [active, setActive] = useState(location.file ?? rows[0]?.entry.path ?? '')
  const rowHeight = useMedia('(pointer: coarse)') ? 32 : 24
  const { scroller, first, last, onScroll, reveal } = useWindow(rows.length, rowHeight)
  const typed = useRef({ text: '', at: 0 })
  const id = useId()
  const activeIndex = Math.max(
    0,
    rows.findIndex((row) => row.entry.path === active),
  )

  const setExpanded = (path: string, open: boolean) => {
    if (open) readDirectory(path)
    expandedStore.set((current) => {
      const next = new Set(current)
      if (open) next.add(path)
      else next.delete(path)
      return next
    })
  }

  const revealFile = useEffectEvent((path: string) => {
    setActive(path)
    const around = ancestorsOf(path)
    if (around.some((each) => !expanded.has(each)))
      expandedStore.set((current) => new Set([...current, ...around]))
  })
  useEffect(() => {
    if (location.file !== null) revealFile(location.file)
  }, [location.file])

  const scrollToActive = useEffectEvent(() => reveal(activeIndex))
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another row becomes active or opens
  useEffect(() => scrollToActive(), [active, rows.length])

  const activate = (row: TreeRow) => {
    setActive(row.entry.path)
    if (row.entry.kind === 'directory') setExpanded(row.entry.path, !row.expanded)
    else openFile(row.entry.path)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const now = event.timeStamp
    const text = now - typed.current.at < typeAheadMs ? typed.current.text : ''
    const action = treeKey(rows, activeIndex, event.key, text, Math.floor((last - first) / 2))
    if (action === null) return
    event.preventDefault()
    if (action.kind === 'typed') typed.current = { text: action.text, at: now }
    const row = rows[action.index]
    if (row === undefined) return
    setActive(row.entry.path)
    if (action.kind === 'activate') activate(row)
    if (action.kind === 'expand') setExpanded(row.entry.path, true)
    if (action.kind === 'collapse') setExpanded(row.entry.path, false)
  }

  return (
    <div
      ref={scroller}
      className={styles.tree}
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={rows.length === 0 ? undefined : `${id}-${activeIndex}`}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: rows.length * rowHeight, position: 'relative' }}>
        {rows.slice(first, last).map((row, offset) => (
          <FileTreeRow
            key={row.entry.path}
            id={`${id}-${first + offset}`}
            row={row}
            top={(first + offset) * rowHeight}
            active={first + offset === activeIndex}
            selected={row.entry.path === location.file}
            onActivate={() => activate(row)}
          />
        ))}
      </div>
    </div>
  )
}

/** Which rows are in sight of a scroller, and a way to bring one into it. */
function useWindow(count: number, rowHeight: number) {
  const scroller = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ first: 0, last: 80 })

  const measure = () => {
    const element = scroller.current
    if (element === null) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - overscan)
    const last = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + overscan
    setRange((current) => (current.first === first && current.last === last ? current : { first, last }))
  }
  const measureNow = useEffectEvent(measure)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const observer = new ResizeObserver(() => measureNow())
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const reveal = (index: number) => {
    const element = scroller.current
    if (element === null) return
    const top = index * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight
    }
  }
  return {
    scroller,
    first: Math.min(range.first, count),
    last: Math.min(range.last, count),
    onScroll: measure,
    reveal,
  }
}

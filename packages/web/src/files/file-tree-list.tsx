import type { DirectoryEntry } from '@atelier/contract'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react'
import { useCanEdit } from '../editing/use-documents.ts'
import { useStore } from '../lib/store.ts'
import { useMedia } from '../lib/use-media.ts'
import { useIde } from '../shell/use-ide.ts'
import { classes } from '../ui/classes.ts'
import { pickedOfList } from '../workspaces/picked-files.ts'
import { DeleteEntry } from './delete-entry.tsx'
import { ancestorsOf, type TreeRow, visibleRows } from './file-tree.ts'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import { FileTreeRow } from './file-tree-row.tsx'
import styles from './files.module.css'
import { ReplaceFiles } from './replace-files.tsx'
import { faultOfName, isFieldRow, pathOfName, rowsWithField, type TreeField } from './tree-field.ts'
import { treeKey } from './tree-keys.ts'
import { TreeMenu, type TreeMenuPlace } from './tree-menu.tsx'
import { TreeNameField } from './tree-name-field.tsx'
import { useFileActions } from './use-file-actions.ts'
import { useTreeDrag } from './use-tree-drag.ts'
import { useTreeWindow } from './use-tree-window.ts'

/** Time within which typed characters belong to one name, in milliseconds. */
const typeAheadMs = 700

/** The tree: only rows in sight are in the document, so that thousands of files stay fluid. */
export function FileTreeList() {
  const {
    tree,
    expanded: expandedStore,
    field: fieldStore,
    active: activeStore,
    readDirectory,
  } = useWorkspaceFiles()
  const { location, openFile } = useIde()
  const canEdit = useCanEdit(location.workspaceId)
  const actions = useFileActions()
  const drag = useTreeDrag(canEdit)
  const expanded = useStore(expandedStore)
  const field = useStore(fieldStore)
  const rows = useMemo(() => rowsWithField(visibleRows(tree, expanded), field), [tree, expanded, field])
  const active = useStore(activeStore)
  const [menu, setMenu] = useState<TreeMenuPlace | null>(null)
  const [deleting, setDeleting] = useState<DirectoryEntry | null>(null)
  const rowHeight = useMedia('(pointer: coarse)') ? 32 : 24
  const { scroller, first, last, onScroll, reveal } = useTreeWindow(rows.length, rowHeight)
  const typed = useRef({ text: '', at: 0 })
  const uploadInput = useRef<HTMLInputElement>(null)
  const uploadFolder = useRef('')
  const id = useId()
  const fieldIndex = rows.findIndex((row) => isFieldRow(row, field))
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

  const revealPath = (path: string) => {
    activeStore.set(path)
    const around = ancestorsOf(path)
    if (around.some((each) => !expanded.has(each)))
      expandedStore.set((current) => new Set([...current, ...around]))
  }
  const revealFile = useEffectEvent(revealPath)
  useEffect(() => {
    if (location.file !== null) revealFile(location.file)
  }, [location.file])

  const scrollToActive = useEffectEvent(() => reveal(activeIndex))
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another row becomes active or opens
  useEffect(() => scrollToActive(), [active, rows.length])
  const scrollToField = useEffectEvent(() => fieldIndex !== -1 && reveal(fieldIndex))
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when a name begins to be typed
  useEffect(() => void scrollToField(), [field])

  const focusTree = () => scroller.current?.focus({ preventScroll: true })
  const activate = (row: TreeRow) => {
    activeStore.set(row.entry.path)
    if (row.entry.kind === 'directory') setExpanded(row.entry.path, !row.expanded)
    else openFile(row.entry.path)
  }
  const startField = (next: TreeField) => {
    if (next.kind === 'create' && next.parent !== '' && !expanded.has(next.parent))
      setExpanded(next.parent, true)
    fieldStore.set(next)
  }
  const takeName = async (current: TreeField, name: string) => {
    const path = pathOfName(current, name)
    if (current.kind === 'create') await actions.create(path, current.entry)
    else if (path !== current.path) await actions.move(current.path, path)
    revealPath(path)
  }
  const openMenu = (entry: DirectoryEntry | null, left: number, top: number) => {
    if (entry !== null) activeStore.set(entry.path)
    if (entry !== null || canEdit) setMenu({ entry, left, top })
  }

  /** Keys that change something, or ask for the menu; false where it was none. */
  const onActionKey = (event: KeyboardEvent, row: TreeRow): boolean => {
    const { key, shiftKey } = event
    if (key === 'ContextMenu' || (key === 'F10' && shiftKey)) {
      const box = scroller.current?.querySelector(`[id="${id}-${activeIndex}"]`)?.getBoundingClientRect()
      openMenu(row.entry, (box?.left ?? 0) + 24, box?.bottom ?? 0)
      return true
    }
    if (!canEdit) return false
    if (key === 'F2') startField({ kind: 'rename', path: row.entry.path })
    else if (key === 'Delete') setDeleting(row.entry)
    else return false
    return true
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const current = rows[activeIndex]
    if (current !== undefined && onActionKey(event, current)) return event.preventDefault()
    const now = event.timeStamp
    const text = now - typed.current.at < typeAheadMs ? typed.current.text : ''
    const action = treeKey(rows, activeIndex, event.key, text, Math.floor((last - first) / 2))
    if (action === null) return
    event.preventDefault()
    if (action.kind === 'typed') typed.current = { text: action.text, at: now }
    const row = rows[action.index]
    if (row === undefined) return
    activeStore.set(row.entry.path)
    if (action.kind === 'activate') activate(row)
    if (action.kind === 'expand') setExpanded(row.entry.path, true)
    if (action.kind === 'collapse') setExpanded(row.entry.path, false)
  }

  return (
    <>
      <div
        ref={scroller}
        className={classes(styles.tree, drag.target === '' && styles.dropRoot)}
        role="tree"
        aria-label="Files"
        tabIndex={0}
        aria-activedescendant={rows.length === 0 ? undefined : `${id}-${activeIndex}`}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        onContextMenu={(event) => {
          event.preventDefault()
          openMenu(null, event.clientX, event.clientY)
        }}
        {...drag.rootProps}
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
              dropTarget={drag.target === row.entry.path && row.entry.kind === 'directory'}
              onActivate={() => activate(row)}
              onMenu={(left, top) => openMenu(row.entry, left, top)}
              field={
                field !== null && first + offset === fieldIndex ? (
                  <TreeNameField
                    label={fieldLabel(field)}
                    initial={row.entry.name}
                    faultOf={(name) => faultOfName(tree, field, name)}
                    onName={(name) => takeName(field, name)}
                    onLeave={() => {
                      fieldStore.set(null)
                      focusTree()
                    }}
                  />
                ) : null
              }
              drag={drag.rowProps(row)}
            />
          ))}
        </div>
      </div>
      <input
        ref={uploadInput}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])]
          event.target.value = ''
          if (files.length > 0) void actions.upload(async () => pickedOfList(files), uploadFolder.current)
        }}
      />
      {menu !== null && (
        <TreeMenu
          place={menu}
          workspaceId={location.workspaceId}
          canEdit={canEdit}
          onField={startField}
          onDelete={setDeleting}
          onUpload={(folder) => {
            uploadFolder.current = folder
            uploadInput.current?.click()
          }}
          onClose={() => setMenu(null)}
          onLeft={focusTree}
        />
      )}
      <ReplaceFiles />
      {deleting !== null && <DeleteEntry entry={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}

function fieldLabel(field: TreeField): string {
  if (field.kind === 'rename') return 'New name'
  return field.entry === 'file' ? 'Name of the new file' : 'Name of the new folder'
}

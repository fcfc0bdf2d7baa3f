import { Save } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { Crumbs } from '../files/crumbs.tsx'
import { keepTab } from '../files/tabs.ts'
import { formatBytes } from '../lib/format.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { shortcutLabel, useShortcut } from '../lib/use-shortcut.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Badge } from '../ui/feedback.tsx'
import { CompareView } from './compare-view.tsx'
import { ConflictBar } from './conflict-bar.tsx'
import type { MountedEditor, Position } from './document-editor.ts'
import styles from './editing.module.css'
import type { OpenDocument } from './open-document.ts'

export interface DocumentViewProps {
  document: OpenDocument
  path: string
  size: number | null
  /** why it cannot be changed; null where it can */
  readOnly: string | null
}

/** A text file, to read and to edit. Ctrl/Cmd-S saves it. */
export function DocumentView({ document, path, size, readOnly }: DocumentViewProps) {
  const { location } = useIde()
  const { tabs } = useServices()
  const { edited, saving, theirs, saveError } = useStore(document.store)
  const [comparing, setComparing] = useState(false)
  const [position, setPosition] = useState<Position | null>(null)
  const save = () => {
    if (readOnly === null && (edited || saveError !== undefined) && theirs === null) void document.save()
  }
  useShortcut('s', save)
  useEffect(() => {
    // A file that is being edited does not give its tab to the next one.
    if (edited)
      tabs
        .of(location.workspaceId)
        .set((current) => ({ ...current, tabs: keepTab(current.tabs, `file:${path}`) }))
  }, [edited, path, tabs, location.workspaceId])

  return (
    <>
      <Crumbs path={path}>
        {readOnly !== null && <Badge title={readOnly}>Read-only</Badge>}
        {edited && <span role="status">{saving ? 'Saving' : 'Not saved'}</span>}
        {position !== null && <span className={styles.position}>{positionWords(position)}</span>}
        {!edited && size !== null && <span className={styles.size}>{formatBytes(size)}</span>}
        {readOnly === null && edited && theirs === null && (
          <Button
            variant="quiet"
            icon={Save}
            busy={saving}
            title={`Save (${shortcutLabel('S')})`}
            onClick={save}
          >
            Save
          </Button>
        )}
        <CopyButton label="Copy the file" text={() => document.text()} />
      </Crumbs>
      {saveError !== undefined && (
        <div className={styles.notice}>
          <ErrorNotice error={saveError} kept="It is not saved. Your text is kept here." onRetry={save} />
        </div>
      )}
      {theirs !== null && readOnly === null && (
        <ConflictBar document={document} comparing={comparing} onCompare={setComparing} />
      )}
      {comparing && theirs !== null && theirs.text !== null ? (
        <CompareView document={document} theirs={theirs.text} path={path} />
      ) : (
        <Editor document={document} path={path} readOnly={readOnly !== null} onPosition={setPosition} />
      )}
    </>
  )
}

function positionWords({ line, column, selected }: Position): string {
  return `Ln ${line}, Col ${column}${selected > 0 ? ` (${selected} selected)` : ''}`
}

interface EditorProps {
  document: OpenDocument
  path: string
  readOnly: boolean
  onPosition: (position: Position) => void
}

function Editor({ document, path, readOnly, onPosition }: EditorProps) {
  const { location, go } = useIde()
  const { lines } = location
  const host = useRef<HTMLDivElement>(null)
  const mounted = useRef<MountedEditor | null>(null)
  const tellLines = useEffectEvent((marked: NonNullable<typeof lines>) =>
    go({ lines: marked }, { replace: true }),
  )
  const tellPosition = useEffectEvent(onPosition)
  const markNow = useEffectEvent(() => lines !== null && mounted.current?.mark(lines))
  const fileName = path.slice(path.lastIndexOf('/') + 1)

  useEffect(() => {
    let left = false
    const open = async () => {
      const { openDocumentEditor } = await import('./document-editor.ts')
      if (left || host.current === null) return
      mounted.current = openDocumentEditor(document).mount({
        parent: host.current,
        fileName,
        readOnly,
        onLines: (marked) => tellLines(marked),
        onPosition: (position) => tellPosition(position),
      })
      markNow()
    }
    void open()
    return () => {
      left = true
      mounted.current?.destroy()
      mounted.current = null
    }
  }, [document, fileName, readOnly])

  useEffect(() => mounted.current?.mark(lines), [lines])

  return <div ref={host} className={styles.editor} data-testid="code" />
}

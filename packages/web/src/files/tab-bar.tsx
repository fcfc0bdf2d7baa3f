import { AppWindow, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { CloseEdited } from '../editing/close-edited.tsx'
import { useDocuments } from '../editing/use-documents.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { classes } from '../ui/classes.ts'
import { FileIcon } from './file-icon.tsx'
import styles from './files.module.css'
import { closeTab, keepTab, type Tab, tabKey, tabTitle } from './tabs.ts'

/** The key of the tab that the address names. */
export function useActiveTabKey(): string | null {
  const { file, scratch, preview } = useIde().location
  if (file !== null) return `file:${file}`
  if (preview !== null) return `preview:${preview.port}`
  return scratch === null ? null : `scratch:${scratch}`
}

export function TabBar() {
  const ide = useIde()
  const store = useServices().tabs.of(ide.location.workspaceId)
  const { tabs } = useStore(store)
  const activeKey = useActiveTabKey()
  const documents = useDocuments(ide.location.workspaceId)
  const edited = useStore(documents.edited)
  const [closing, setClosing] = useState<Tab | null>(null)
  const bar = useRef<HTMLDivElement>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new active tab comes into sight
  useEffect(() => {
    bar.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [activeKey])

  const show = (tab: Tab | null) => {
    if (tab === null)
      ide.go({
        file: null,
        scratch: null,
        preview: null,
        lines: null,
        panel: ide.narrow ? 'files' : ide.location.panel,
      })
    else if (tab.kind === 'file') ide.openFile(tab.path)
    else if (tab.kind === 'preview') ide.openPreview(tab)
    else ide.openScratch(tab.id)
  }
  const isEdited = (tab: Tab) => tab.kind === 'file' && edited.has(tab.path)
  const close = (tab: Tab) => {
    if (isEdited(tab)) return setClosing(tab)
    if (tab.kind === 'file') documents.close(tab.path)
    remove(tab)
  }
  const remove = (tab: Tab) => {
    const closed = closeTab(tabs, tabKey(tab))
    store.set({ tabs: closed.tabs, lastKey: closed.next && tabKey(closed.next) })
    if (tabKey(tab) === activeKey) show(closed.next)
  }
  const onKeyDown = (event: KeyboardEvent, tab: Tab) => {
    const at = tabs.indexOf(tab)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    const target = next === undefined ? undefined : tabs.at(next % tabs.length)
    if (event.key === 'Delete') close(tab)
    else if (target !== undefined) {
      show(target)
      bar.current?.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(target)]?.focus()
    }
  }

  return (
    <>
      <div ref={bar} className={styles.tabs} role="tablist" aria-label="Open files">
        {tabs.map((tab) => {
          const key = tabKey(tab)
          const active = key === activeKey
          const passing = tab.kind === 'file' && !tab.kept
          return (
            <div
              key={key}
              role="presentation"
              className={classes(styles.tab, passing && styles.passing)}
              data-active={active}
              data-edited={isEdited(tab)}
              onAuxClick={(event) => event.button === 1 && close(tab)}
            >
              <button
                type="button"
                role="tab"
                aria-selected={active}
                aria-label={isEdited(tab) ? `${tabTitle(tab)}, not saved` : undefined}
                aria-keyshortcuts="Delete"
                tabIndex={active ? 0 : -1}
                className={styles.tabName}
                title={tabHint(tab)}
                onClick={() => show(tab)}
                onDoubleClick={() => store.set((current) => ({ ...current, tabs: keepTab(tabs, key) }))}
                onKeyDown={(event) => onKeyDown(event, tab)}
              >
                {tab.kind === 'preview' ? (
                  <AppWindow size={14} aria-hidden />
                ) : (
                  <FileIcon name={tabTitle(tab)} />
                )}
                <span>{tabTitle(tab)}</span>
              </button>
              <button
                type="button"
                tabIndex={-1}
                aria-hidden
                className={styles.tabClose}
                title={`Close ${tabTitle(tab)} (Delete)`}
                onClick={() => close(tab)}
              >
                <X size={14} aria-hidden />
                <span className={styles.editedDot} />
              </button>
            </div>
          )
        })}
      </div>
      {closing?.kind === 'file' && (
        <CloseEdited
          path={closing.path}
          onCancel={() => {
            setClosing(null)
            show(closing)
          }}
          onClosed={() => {
            setClosing(null)
            remove(closing)
          }}
        />
      )}
    </>
  )
}

function tabHint(tab: Tab): string {
  if (tab.kind === 'file') return tab.path
  return tab.kind === 'preview' ? `What is served on port ${tab.port}` : 'Code from an answer'
}

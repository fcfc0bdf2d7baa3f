import { Sparkles } from 'lucide-react'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { useDocuments } from '../editing/use-documents.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { shortcutLabel } from '../lib/use-shortcut.ts'
import { PreviewView } from '../previews/preview-view.tsx'
import { useIde } from '../shell/use-ide.ts'
import { EmptyState, Kbd } from '../ui/feedback.tsx'
import { FileView } from './file-view.tsx'
import styles from './files.module.css'
import { ScratchView } from './scratch-view.tsx'
import { TabBar, useActiveTabKey } from './tab-bar.tsx'
import { type OpenTabs, openFileTab, openPreviewTab, tabKey } from './tabs.ts'

/** The middle: tabs, and the file that the address names. `empty` takes the place of a workspace without files. */
export function EditorArea({ empty }: { empty: ReactNode }) {
  const { location } = useIde()
  const store = useServices().tabs.of(location.workspaceId)
  const documents = useDocuments(location.workspaceId)
  const { tabs } = useStore(store)
  const activeKey = useActiveTabKey()
  const { file, scratch, preview } = location

  const tabsWithActive = ({ tabs: current, lastKey }: OpenTabs): OpenTabs['tabs'] => {
    if (file !== null) return openFileTab(current, file, lastKey)
    return preview === null ? current : openPreviewTab(current, preview, lastKey)
  }
  const showActive = useEffectEvent(() => {
    if (activeKey === null) return
    const before = store.get()
    const next = tabsWithActive(before)
    store.set({ tabs: next, lastKey: activeKey })
    // The file that gave its tab away is looked at no more.
    for (const tab of before.tabs)
      if (tab.kind === 'file' && !next.some((one) => tabKey(one) === tabKey(tab))) documents.close(tab.path)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page of the same port is the same tab
  useEffect(() => showActive(), [activeKey, store, preview?.path])

  const code = tabs.find((tab) => tab.kind === 'scratch' && tab.id === scratch)
  return (
    <div className={styles.code}>
      {tabs.length > 0 && <TabBar />}
      {file !== null && <FileView workspaceId={location.workspaceId} path={file} />}
      {preview !== null && (
        <PreviewView key={preview.port} workspaceId={location.workspaceId} place={preview} />
      )}
      {code?.kind === 'scratch' && <ScratchView tab={code} />}
      {file === null && preview === null && code === undefined && (empty ?? <NothingOpen />)}
    </div>
  )
}

function NothingOpen() {
  return (
    <EmptyState icon={Sparkles} title="Nothing is open">
      <p>Choose a file in the tree, or open one from a search or an answer.</p>
      <dl className={styles.keys}>
        <dt>Open a file by name</dt>
        <dd>
          <Kbd>{shortcutLabel('P')}</Kbd>
        </dd>
        <dt>All commands</dt>
        <dd>
          <Kbd>{shortcutLabel('K')}</Kbd>
        </dd>
      </dl>
    </EmptyState>
  )
}

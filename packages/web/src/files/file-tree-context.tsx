import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { createStore, type Store } from '../lib/store.ts'
import type { TreeField } from './tree-field.ts'
import { useDirectoryChanges } from './use-directory-changes.ts'
import { type FileTreeState, useFileTree } from './use-file-tree.ts'

export interface Replacing {
  paths: readonly string[]
  go: () => void
}

interface FileTreeView extends FileTreeState {
  /** open directories: kept while another panel is shown */
  expanded: Store<ReadonlySet<string>>
  /** the name that is being typed */
  field: Store<TreeField | null>
  /** path of the row that the keys go to */
  active: Store<string>
  /** files that an upload would replace, and what lets it */
  replacing: Store<Replacing | null>
  isFile: (path: string) => boolean
}

const FileTreeContext = createContext<FileTreeView | null>(null)

/** Reads the workspace's files once for the tree, quick open and citations. */
export function FileTreeProvider({ workspaceId, children }: { workspaceId: string; children: ReactNode }) {
  const state = useFileTree(workspaceId)
  const [expanded] = useState(() => createStore<ReadonlySet<string>>(new Set()))
  const [field] = useState(() => createStore<TreeField | null>(null))
  const [active] = useState(() => createStore(''))
  const [replacing] = useState(() => createStore<Replacing | null>(null))
  useDirectoryChanges(workspaceId)
  const { files } = state.tree
  const known = useMemo(() => new Set(files), [files])
  return (
    <FileTreeContext
      value={{ ...state, expanded, field, active, replacing, isFile: (path) => known.has(path) }}
    >
      {children}
    </FileTreeContext>
  )
}

export function useWorkspaceFiles(): FileTreeView {
  const view = useContext(FileTreeContext)
  if (view === null) throw new Error('useWorkspaceFiles needs a FileTreeProvider above it')
  return view
}

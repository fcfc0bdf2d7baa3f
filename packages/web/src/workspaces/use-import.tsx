import { useRef, useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { GitImport } from './git-import.tsx'
import { ImportTarget } from './import-target.tsx'
import {
  commonRoot,
  entriesOfDrop,
  isArchive,
  type Picked,
  pickedOfList,
  readEntries,
} from './picked-files.ts'

type Read = (onProgress: (files: number) => void) => Promise<Picked>

/** Ways to give files to a workspace, and the parts of the page that they need (`elements` must be rendered). */
export interface ImportControls {
  pickFolder: () => void
  pickFiles: () => void
  askGit: () => void
  takeDrop: (transfer: DataTransfer) => void
  elements: React.ReactNode
}

/**
 * One folder dropped into an empty workspace becomes its root. Where files are there already, the person says whether
 * its content joins them or the folder stays a folder.
 */
export function useImport(workspaceId: string, isEmpty: boolean): ImportControls {
  const session = useServices().imports.of(workspaceId)
  const folderInput = useRef<HTMLInputElement>(null)
  const filesInput = useRef<HTMLInputElement>(null)
  const [git, setGit] = useState(false)
  const [asking, setAsking] = useState<{ folder: string; read: Read } | null>(null)

  const give = (read: Read, folder: string | null) => {
    if (folder === null || isEmpty) void session.start(read, true)
    else setAsking({ folder, read })
  }
  const takeList = (list: FileList | null) => {
    if (list === null || list.length === 0) return
    const files = [...list]
    const folder = commonRoot(files.map((file) => file.webkitRelativePath || file.name))
    give(async () => pickedOfList(files), folder)
  }
  const takeDrop = (transfer: DataTransfer) => {
    const entries = entriesOfDrop(transfer)
    const [only] = entries
    if (only === undefined) return
    const folder = entries.length === 1 && (only.isDirectory || isArchive(only.name)) ? only.name : null
    give((onProgress) => readEntries(entries, onProgress), folder)
  }

  const elements = (
    <>
      <input
        ref={folderInput}
        type="file"
        hidden
        aria-label="Folder to import"
        {...{ webkitdirectory: '' }}
        onChange={(event) => {
          takeList(event.target.files)
          event.target.value = ''
        }}
      />
      <input
        ref={filesInput}
        type="file"
        multiple
        hidden
        aria-label="Files or archive to import"
        onChange={(event) => {
          takeList(event.target.files)
          event.target.value = ''
        }}
      />
      {git && <GitImport workspaceId={workspaceId} isEmpty={isEmpty} onClose={() => setGit(false)} />}
      {asking !== null && (
        <ImportTarget
          folder={asking.folder}
          onClose={() => setAsking(null)}
          onChoose={(stripRoot) => {
            setAsking(null)
            void session.start(asking.read, stripRoot)
          }}
        />
      )}
    </>
  )
  return {
    pickFolder: () => folderInput.current?.click(),
    pickFiles: () => filesInput.current?.click(),
    askGit: () => setGit(true),
    takeDrop,
    elements,
  }
}

export function useImportState(workspaceId: string) {
  return useStore(useServices().imports.of(workspaceId).store)
}

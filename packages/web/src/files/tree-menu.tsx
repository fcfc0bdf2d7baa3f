import type { DirectoryEntry } from '@atelier/contract'
import { Copy, Download, FilePlus2, FolderPlus, Pencil, Trash2, Upload } from 'lucide-react'
import { useServices } from '../lib/services.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { parentOf } from './file-tree.ts'
import { rawHref } from './raw-href.ts'
import type { TreeField } from './tree-field.ts'

/** Where a menu was asked for, in pixels of the window, and for which entry; null is the root. */
export interface TreeMenuPlace {
  entry: DirectoryEntry | null
  left: number
  top: number
}

interface TreeMenuProps {
  place: TreeMenuPlace
  workspaceId: string
  canEdit: boolean
  onField: (field: TreeField) => void
  onDelete: (entry: DirectoryEntry) => void
  onUpload: (folder: string) => void
  onClose: () => void
  /** where the focus goes back to */
  onLeft: () => void
}

/** What can be done to an entry of the tree. */
export function TreeMenu({
  place,
  workspaceId,
  canEdit,
  onField,
  onDelete,
  onUpload,
  onClose,
  onLeft,
}: TreeMenuProps) {
  const { toasts } = useServices()
  const { entry } = place
  const folder = entry === null ? '' : entry.kind === 'directory' ? entry.path : parentOf(entry.path)
  const create = (kind: 'file' | 'directory') => () =>
    onField({ kind: 'create', parent: folder, entry: kind })
  const inFolder: MenuItem[] = [
    { label: 'New file', icon: FilePlus2, run: create('file') },
    { label: 'New folder', icon: FolderPlus, run: create('directory') },
    { label: 'Upload files here', icon: Upload, run: () => onUpload(folder) },
  ]
  const copyPath = async (path: string) => {
    await navigator.clipboard.writeText(path)
    toasts.show({ text: 'The path is copied' })
  }
  const ofEntry = (one: DirectoryEntry): MenuItem[] => [
    ...(canEdit
      ? [{ label: 'Rename', icon: Pencil, run: () => onField({ kind: 'rename', path: one.path }) }]
      : []),
    ...(navigator.clipboard === undefined
      ? []
      : [{ label: 'Copy the path', icon: Copy, run: () => void copyPath(one.path) }]),
    ...(one.kind === 'file'
      ? [{ label: 'Download', icon: Download, run: () => download(rawHref(workspaceId, one.path)) }]
      : []),
    ...(canEdit ? [{ label: 'Delete', icon: Trash2, danger: true, run: () => onDelete(one) }] : []),
  ]
  const items = [...(canEdit ? inFolder : []), ...(entry === null ? [] : ofEntry(entry))]
  return (
    <Menu
      at={place}
      items={items}
      label={entry === null ? 'Actions for the workspace' : `Actions for ${entry.name}`}
      onClose={onClose}
      onLeft={onLeft}
    />
  )
}

function download(href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = ''
  link.click()
}

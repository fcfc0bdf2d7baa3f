import { type DragEvent, useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { entriesOfDrop, readEntries } from '../workspaces/picked-files.ts'
import { parentOf, type TreeRow } from './file-tree.ts'
import { isAtOrBelow } from './tabs.ts'
import { useFileActions } from './use-file-actions.ts'

/** The type under which a dragged row names its path. */
const pathType = 'application/x-atelier-path'

/** Rows are dragged onto folders; files from outside are dropped into them. The root is the space below the rows. */
export function useTreeDrag(canEdit: boolean) {
  const { toasts } = useServices()
  const actions = useFileActions()
  const [target, setTarget] = useState<string | null>(null)

  const folderOf = ({ entry }: TreeRow) => (entry.kind === 'directory' ? entry.path : parentOf(entry.path))

  const tell = (error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) })
  const move = (from: string, folder: string) => {
    const to = folder === '' ? nameOf(from) : `${folder}/${nameOf(from)}`
    if (to === from || isAtOrBelow(folder, from)) return
    const undo = () => void actions.move(to, from).catch(tell)
    actions.move(from, to).then(
      () =>
        toasts.show({
          text: `“${nameOf(from)}” is in ${folder === '' ? 'the root' : folder} now`,
          action: { label: 'Undo', run: undo },
        }),
      tell,
    )
  }

  function dropProps(folder: string) {
    if (!canEdit) return {}
    return {
      'data-drop-folder': folder,
      onDragOver(event: DragEvent) {
        const { types } = event.dataTransfer
        if (!types.includes(pathType) && !types.includes('Files')) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = types.includes('Files') ? 'copy' : 'move'
        setTarget(folder)
      },
      onDrop(event: DragEvent) {
        event.preventDefault()
        event.stopPropagation()
        setTarget(null)
        const from = event.dataTransfer.getData(pathType)
        if (from !== '') return move(from, folder)
        const entries = entriesOfDrop(event.dataTransfer)
        if (entries.length > 0)
          actions.upload(() => readEntries(entries, () => undefined), folder).catch(tell)
      },
    }
  }

  return {
    /** the folder that would take what is dragged */
    target,
    rowProps: (row: TreeRow) => ({
      ...dropProps(folderOf(row)),
      ...(canEdit && {
        draggable: true,
        onDragStart: (event: DragEvent) => {
          event.dataTransfer.setData(pathType, row.entry.path)
          event.dataTransfer.effectAllowed = 'move'
        },
        onDragEnd: () => setTarget(null),
      }),
    }),
    rootProps: { ...dropProps(''), onDragLeave: () => setTarget(null) },
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

import { createFile, type DirectoryEntry, deleteFile, moveFile, readFiles } from '@atelier/contract'
import { navigate } from 'wouter/use-browser-location'
import { useDocuments } from '../editing/use-documents.ts'
import { useServices } from '../lib/services.tsx'
import { ideHref, parseIdeLocation } from '../shell/ide-url.ts'
import { useIde } from '../shell/use-ide.ts'
import { errorLine } from '../ui/describe-error.ts'
import { ImportError } from '../workspaces/import-session.ts'
import type { Picked } from '../workspaces/picked-files.ts'
import { isArchive } from '../workspaces/picked-files.ts'
import { ancestorsOf } from './file-tree.ts'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import { closeTabsBelow, isAtOrBelow, movePath, moveTabs } from './tabs.ts'

export interface FileActions {
  /** Throws ApiError, as every action here does. */
  create(path: string, kind: 'file' | 'directory'): Promise<void>
  /** Moves or renames; open tabs and unsaved edits go along. */
  move(from: string, to: string): Promise<void>
  /** Deletes; a text or a small file can be brought back by the toast that tells of it. */
  remove(entry: DirectoryEntry): Promise<void>
  /** Puts files into a folder, by the import of the workspace; asks before it replaces any. */
  upload(read: () => Promise<Picked>, folder: string): Promise<void>
}

/** What can be done to the files of the workspace that is open. */
export function useFileActions(): FileActions {
  const ide = useIde()
  const { workspaceId } = ide.location
  const { client, queryClient, tabs, toasts, imports } = useServices()
  const documents = useDocuments(workspaceId)
  const { isFile, replacing, expanded } = useWorkspaceFiles()
  const store = tabs.of(workspaceId)

  const readAgain = () => queryClient.invalidateQueries({ queryKey: ['workspace', workspaceId, 'tree'] })
  const forget = (path: string) =>
    queryClient.removeQueries({
      predicate: ({ queryKey: [area, id, kind, at] }) =>
        area === 'workspace' && id === workspaceId && kind === 'file' && isAtOrBelow(String(at), path),
    })

  async function create(path: string, kind: 'file' | 'directory'): Promise<void> {
    await client.call(createFile, { body: { workspaceId, path, kind } })
    forget(path)
    await readAgain()
    if (kind === 'file') ide.openFile(path)
  }

  async function move(from: string, to: string): Promise<void> {
    await client.call(moveFile, { body: { workspaceId, from, to } })
    documents.moved(from, to)
    store.set((open) => moveTabs(open, from, to))
    followShown(workspaceId, (file) => movePath(file, from, to))
    forget(from)
    forget(to)
    await readAgain()
  }

  /** A file as it is now, and what brings it back; null where it cannot be. */
  async function rememberFile(entry: DirectoryEntry) {
    if (entry.kind !== 'file' || entry.size === null || entry.size > mostBytesToRemember) return null
    const read = await client.call(readFiles, { query: { workspaceId, path: entry.path } })
    if (read.kind !== 'file') return null
    const { path, content, encoding, revision } = read
    const bringBack = async () => {
      await client.call(createFile, {
        body: { workspaceId, path, content, encoding, executable: entry.executable },
      })
      forget(path)
      await readAgain()
    }
    return { revision, bringBack }
  }

  async function remove(entry: DirectoryEntry): Promise<void> {
    const { path, kind, name } = entry
    const remembered = await rememberFile(entry)
    await client.call(deleteFile, {
      query: {
        workspaceId,
        path,
        recursive: kind === 'directory' ? 'true' : 'false',
        ...(remembered === null ? {} : { baseRevision: remembered.revision }),
      },
    })
    for (const tab of store.get().tabs)
      if (tab.kind === 'file' && isAtOrBelow(tab.path, path)) documents.close(tab.path)
    store.set((open) => closeTabsBelow(open, path))
    followShown(workspaceId, (file) => (isAtOrBelow(file, path) ? null : file))
    forget(path)
    await readAgain()
    const tell = (error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) })
    toasts.show({
      text: `“${name}” is deleted`,
      ...(remembered !== null && {
        action: { label: 'Undo', run: () => void remembered.bringBack().catch(tell) },
      }),
    })
  }

  async function upload(read: () => Promise<Picked>, folder: string): Promise<void> {
    const picked = await read()
    const [only] = picked.files
    const prefix = folder === '' ? '' : `${folder}/`
    const files = picked.files.map((one) => ({ ...one, path: prefix + one.path }))
    // What arrives is to be seen.
    if (folder !== '') expanded.set((open) => new Set([...open, ...ancestorsOf(folder), folder]))
    const start = () =>
      void imports.of(workspaceId).start(async () => {
        // The import unpacks an archive that comes alone, and always at the root.
        if (folder !== '' && picked.files.length === 1 && only !== undefined && isArchive(only.path))
          throw new ImportError('An archive is unpacked at the root: use Import, or unpack it in a terminal.')
        return { ...picked, files }
      }, false)
    const replaced = files.map(({ path }) => path).filter(isFile)
    if (replaced.length === 0) start()
    else replacing.set({ paths: replaced, go: start })
  }

  return { create, move, remove, upload }
}

/** Files up to this size are kept in the page for a moment after they were deleted, in bytes. */
const mostBytesToRemember = 4 * 1024 * 1024

/**
 * Leads the page from the file it shows to where that is now. What is shown is read from the address: a toast's Undo comes
 * long after the page that made it.
 */
function followShown(workspaceId: string, change: (file: string) => string | null): void {
  const { pathname, search, hash } = window.location
  const shown = parseIdeLocation(pathname, search, hash)
  if (shown === null || shown.workspaceId !== workspaceId || shown.file === null) return
  const file = change(shown.file)
  if (file === shown.file) return
  navigate(ideHref({ ...shown, file, lines: file === null ? null : shown.lines }), { replace: true })
}

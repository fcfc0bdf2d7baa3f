import type { Client } from '@atelier/client'
import { ApiError } from '@atelier/client'
import { type FileContent, readFiles, replaceFile } from '@atelier/contract'
import type { QueryClient } from '@tanstack/react-query'
import { fileQuery } from '../lib/queries.ts'
import { createStore, type Store } from '../lib/store.ts'
import { createDrafts } from './drafts.ts'
import { createOpenDocument, type DiskVersion, type OpenDocument } from './open-document.ts'

/** The open documents of a workspace, by path. */
export interface WorkspaceDocuments {
  /** paths with edits that are not saved, those kept from before a reload included */
  readonly edited: Store<ReadonlySet<string>>
  /** whether leaving the page would lose sight of edits */
  hasOpenEdits(): boolean
  /** Copies unsaved texts into the browser's storage now. */
  flush(): void
  open(file: FileContent): OpenDocument
  /** The document at a path, read from disk where it is not open. */
  load(path: string): Promise<OpenDocument>
  get(path: string): OpenDocument | undefined
  /** Forgets a document and what was not saved of it. */
  close(path: string): void
  /** A file or a folder has another path now. */
  moved(from: string, to: string): void
}

export interface DocumentStores {
  of(userId: string, workspaceId: string): WorkspaceDocuments
}

export function createDocumentStores(deps: {
  client: Client
  queryClient: QueryClient
  storage: Storage
}): DocumentStores {
  const stores = new Map<string, WorkspaceDocuments>()
  addEventListener('beforeunload', (event) => {
    if ([...stores.values()].some((documents) => documents.hasOpenEdits())) event.preventDefault()
  })
  addEventListener('pagehide', () => {
    for (const documents of stores.values()) documents.flush()
  })
  return {
    of(userId, workspaceId) {
      const key = `${userId}.${workspaceId}`
      const known = stores.get(key)
      if (known !== undefined) return known
      const made = createWorkspaceDocuments({ ...deps, workspaceId, prefix: `atelier.draft.${key}.` })
      stores.set(key, made)
      return made
    },
  }
}

function createWorkspaceDocuments(deps: {
  client: Client
  queryClient: QueryClient
  storage: Storage
  workspaceId: string
  prefix: string
}): WorkspaceDocuments {
  const { client, queryClient, workspaceId } = deps
  const drafts = createDrafts(deps)
  const documents = new Map<string, OpenDocument>()
  const edited = createStore<ReadonlySet<string>>(new Set(drafts.paths()))

  const openEdits = () => [...documents.values()].filter(({ store }) => store.get().edited)

  function count(): void {
    const waiting = drafts.paths().filter((path) => !documents.has(path))
    const paths = [...openEdits().map((one) => one.path()), ...waiting]
    const before = edited.get()
    if (paths.length !== before.size || paths.some((path) => !before.has(path))) edited.set(new Set(paths))
  }

  async function write(path: string, content: string, baseRevision: string | null) {
    // An answer that is still under way would be older than what is written now.
    await queryClient.cancelQueries({ queryKey: keyOf(path) })
    return client.call(replaceFile, { body: { workspaceId, path, content, baseRevision } })
  }

  async function read(path: string): Promise<DiskVersion> {
    try {
      const file = await client.call(readFiles, { query: { workspaceId, path } })
      return file.kind === 'file' ? versionOf(file) : { revision: null, text: null }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return { revision: null, text: null }
      throw error
    }
  }

  const keyOf = (path: string) => fileQuery({ client }, workspaceId, path).queryKey

  function onSaved(path: string, { revision, text }: DiskVersion & { text: string }): void {
    queryClient.setQueryData(keyOf(path), (shown) =>
      shown === undefined || revision === null
        ? shown
        : { ...shown, content: text, revision, size: new TextEncoder().encode(text).length },
    )
    // The tree shows what was made, and what search knows of it.
    void queryClient.invalidateQueries({ queryKey: ['workspace', workspaceId, 'tree'] })
  }

  function open(file: FileContent): OpenDocument {
    const known = documents.get(file.path)
    if (known !== undefined) return known
    const disk = { revision: file.revision, text: file.content }
    const made = createOpenDocument({ path: file.path, disk, drafts, write, read, onSaved })
    documents.set(file.path, made)
    made.store.subscribe(count)
    // It is opened while the page is rendered; what that changes is told after it.
    queueMicrotask(count)
    return made
  }

  return {
    edited,
    hasOpenEdits: () => openEdits().length > 0,
    flush() {
      for (const document of documents.values()) document.flush()
    },
    open,
    async load(path) {
      return (
        documents.get(path) ?? open(await queryClient.fetchQuery(fileQuery({ client }, workspaceId, path)))
      )
    },
    get: (path) => documents.get(path),
    close(path) {
      documents.get(path)?.discard()
      documents.delete(path)
      drafts.remove(path)
      count()
    },
    moved(from, to) {
      for (const [path, document] of [...documents]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue
        const target = to + path.slice(from.length)
        document.moved(target)
        documents.delete(path)
        documents.set(target, document)
      }
      for (const path of drafts.paths()) {
        const draft = drafts.read(path)
        if (draft === null || documents.has(path) || (path !== from && !path.startsWith(`${from}/`))) continue
        drafts.write(to + path.slice(from.length), draft)
        drafts.remove(path)
      }
      count()
    },
  }
}

export function versionOf(file: FileContent): DiskVersion {
  return { revision: file.revision, text: file.encoding === 'utf8' ? file.content : null }
}

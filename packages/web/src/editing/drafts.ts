import { z } from 'zod'

/** Unsaved text, with the revision it was based on; `null`: the file was not there. */
const Draft = z.object({ baseRevision: z.string().nullable(), text: z.string(), at: z.number() })
export type Draft = z.infer<typeof Draft>

/** Unsaved texts of one person in one workspace, kept over a reload. */
export interface Drafts {
  read(path: string): Draft | null
  write(path: string, draft: Omit<Draft, 'at'>): void
  remove(path: string): void
  paths(): string[]
}

/** Longest text that is kept, in characters: browsers give a site about five million for everything. */
export const maxDraftCharacters = 1_000_000

/** Drafts of one workspace; the oldest give way. */
export const mostDrafts = 30

export function createDrafts({ prefix, storage }: { prefix: string; storage: Storage }): Drafts {
  const keyOf = (path: string) => `${prefix}${path}`

  function read(key: string): Draft | null {
    try {
      const parsed = Draft.safeParse(JSON.parse(storage.getItem(key) ?? 'null'))
      return parsed.success ? parsed.data : null
    } catch {
      // Unreadable storage holds no draft that could be shown.
      return null
    }
  }

  const keysKept = () => Object.keys(storage).filter((key) => key.startsWith(prefix))

  function makeRoom(): void {
    const keys = keysKept()
    if (keys.length <= mostDrafts) return
    const oldest = keys.map((key) => ({ key, at: read(key)?.at ?? 0 })).sort((a, b) => a.at - b.at)
    for (const { key } of oldest.slice(0, keys.length - mostDrafts)) storage.removeItem(key)
  }

  return {
    read: (path) => read(keyOf(path)),
    write(path, draft) {
      if (draft.text.length > maxDraftCharacters) return storage.removeItem(keyOf(path))
      try {
        storage.setItem(keyOf(path), JSON.stringify({ ...draft, at: Date.now() }))
        makeRoom()
      } catch {
        // A full storage: the text is still in the page, which warns before it is left.
      }
    },
    remove: (path) => storage.removeItem(keyOf(path)),
    paths: () => keysKept().map((key) => key.slice(prefix.length)),
  }
}

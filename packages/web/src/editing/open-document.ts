import { ApiError } from '@atelier/client'
import { createStore, type Store } from '../lib/store.ts'
import type { DocumentEditor } from './document-editor.ts'
import type { Drafts } from './drafts.ts'

/** What is on disk: `revision` is null where nothing is, `text` where there is no text to show. */
export interface DiskVersion {
  revision: string | null
  text: string | null
}

export interface DocumentState {
  /** what the text was made from */
  base: DiskVersion
  edited: boolean
  saving: boolean
  /** what is on disk instead of the base while there are edits: a choice for the person */
  theirs: DiskVersion | null
  /** why the last attempt to save failed */
  saveError: unknown
}

/** Where the text is: a string until an editor has shown it, then the editor's state with its undo history. */
export interface TextBuffer {
  text(): string
  equals(text: string): boolean
  replace(text: string): void
}

/** One text file being read or edited, for as long as its tab is open. */
export interface OpenDocument {
  readonly store: Store<DocumentState>
  path(): string
  text(): string
  /** the editor that holds the text, once one was made */
  editor(): DocumentEditor | null
  attach(editor: DocumentEditor): void
  /** The editor's text has changed. */
  touched(): void
  /** Somebody has read what is on disk. */
  seen(version: DiskVersion): void
  /** Writes the text over the base; false where that was not possible, and the state says why. */
  save(): Promise<boolean>
  /** Writes the text over what is on disk now. */
  keepMine(): Promise<boolean>
  /** Takes the text on disk, and answers the text that was given up. */
  takeTheirs(): string
  /** Puts a text back, as an edit. */
  restore(text: string): void
  moved(to: string): void
  /** Copies unsaved text into the browser's storage now. */
  flush(): void
  /** Forgets the edits that were not saved. */
  discard(): void
}

export interface DocumentDeps {
  path: string
  disk: DiskVersion & { text: string }
  drafts: Drafts
  write(path: string, text: string, baseRevision: string | null): Promise<{ revision: string | null }>
  read(path: string): Promise<DiskVersion>
  onSaved(path: string, version: DiskVersion & { text: string }): void
}

/** Time between two copies of unsaved text into the browser's storage, in milliseconds. */
const draftEveryMs = 400

export function createOpenDocument({ disk, drafts, ...deps }: DocumentDeps): OpenDocument {
  const draft = drafts.read(deps.path)
  let path = deps.path
  let editor: DocumentEditor | null = null
  let buffer: TextBuffer = plainBuffer(draft?.text ?? disk.text)
  let timer: ReturnType<typeof setTimeout> | undefined
  const store = createStore<DocumentState>(initialState(disk, draft))
  if (draft?.text === disk.text) drafts.remove(deps.path)
  const change = (part: Partial<DocumentState>) => store.set((state) => ({ ...state, ...part }))

  function keepDraft(): void {
    clearTimeout(timer)
    timer = undefined
    const { edited, base } = store.get()
    if (edited) drafts.write(path, { baseRevision: base.revision, text: buffer.text() })
    else drafts.remove(path)
  }

  function touched(): void {
    const { base, theirs } = store.get()
    const edited = theirs !== null || base.text === null || !buffer.equals(base.text)
    if (edited !== store.get().edited) change({ edited })
    if (!edited) keepDraft()
    else timer ??= setTimeout(keepDraft, draftEveryMs)
  }

  /** The text is what is on disk now, or what will be compared with it. */
  function adopt(base: DiskVersion): void {
    const edited = base.text === null || !buffer.equals(base.text)
    change({ base, theirs: null, saveError: undefined, edited })
    keepDraft()
  }

  function seen(version: DiskVersion) {
    const { base, edited, saving, theirs } = store.get()
    if (saving || version.revision === (theirs ?? base).revision) return
    if (version.text !== null && buffer.equals(version.text)) return adopt(version)
    if (version.revision === base.revision) {
      change({ base: version, theirs: null })
      return touched()
    }
    if (edited) return change({ theirs: version })
    if (version.text === null) return
    change({ base: version })
    buffer.replace(version.text)
    touched()
  }

  async function write(baseRevision: string | null): Promise<boolean> {
    if (store.get().saving) return false
    const text = buffer.text()
    change({ saving: true, saveError: undefined })
    try {
      const { revision } = await deps.write(path, text, baseRevision)
      change({ saving: false })
      adopt({ revision, text })
      deps.onSaved(path, { revision, text })
      return true
    } catch (error) {
      await refused(error)
      return false
    }
  }

  /** A conflict becomes a choice, once it is known what there is to choose from. */
  async function refused(error: unknown) {
    if (!(error instanceof ApiError) || error.code !== 'CONFLICT')
      return change({ saving: false, saveError: error })
    try {
      const version = await deps.read(path)
      // Where the file is as it was, something else stood in the way.
      const isSame = version.revision === store.get().base.revision
      change({ saving: false, saveError: isSame ? error : undefined })
      seen(version)
    } catch (unread) {
      change({ saving: false, saveError: unread })
    }
  }

  return {
    store,
    path: () => path,
    text: () => buffer.text(),
    editor: () => editor,
    attach(made) {
      editor = made
      buffer = made
    },
    touched,
    seen,
    save: () => write(store.get().base.revision),
    keepMine() {
      const { theirs, base } = store.get()
      return write((theirs ?? base).revision)
    },
    takeTheirs() {
      const mine = buffer.text()
      const { theirs } = store.get()
      if (theirs === null || theirs.text === null) return mine
      change({ base: theirs, theirs: null, saveError: undefined })
      buffer.replace(theirs.text)
      adopt(theirs)
      return mine
    },
    restore(text) {
      buffer.replace(text)
      touched()
    },
    moved(to) {
      drafts.remove(path)
      path = to
      // That nothing is at the old place was part of the move.
      if (store.get().theirs?.revision === null) change({ theirs: null })
      touched()
      keepDraft()
    },
    flush() {
      if (timer !== undefined) keepDraft()
    },
    discard() {
      clearTimeout(timer)
      timer = undefined
      drafts.remove(path)
      change({ edited: false, theirs: null })
    },
  }
}

/** A draft of another revision than the one on disk is a conflict from the start. */
function initialState(
  disk: DiskVersion & { text: string },
  draft: { baseRevision: string | null; text: string } | null,
): DocumentState {
  const state = { saving: false, saveError: undefined }
  if (draft === null || draft.text === disk.text) return { ...state, base: disk, edited: false, theirs: null }
  if (draft.baseRevision === disk.revision) return { ...state, base: disk, edited: true, theirs: null }
  const base = { revision: draft.baseRevision, text: null }
  return { ...state, base, edited: true, theirs: disk }
}

function plainBuffer(initial: string): TextBuffer {
  let text = initial
  return {
    text: () => text,
    equals: (other) => other === text,
    replace(next) {
      text = next
    },
  }
}

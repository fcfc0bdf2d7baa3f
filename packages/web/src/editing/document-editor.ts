import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { indentOnInput, indentUnit } from '@codemirror/language'
import { Compartment, EditorState, type StateEffect, Text } from '@codemirror/state'
import {
  crosshairCursor,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  rectangularSelection,
} from '@codemirror/view'
import { codeExtensions, loadLanguage, markLines } from '../files/editor-extensions.ts'
import type { LineRange } from '../lib/line-range.ts'
import { indentationOf, lineEndingOf } from './line-endings.ts'
import type { OpenDocument, TextBuffer } from './open-document.ts'

/** The editor of one document. It keeps the text, the selection and the undo history while it is not on the screen. */
export interface DocumentEditor extends TextBuffer {
  mount(options: MountOptions): MountedEditor
}

export interface MountOptions {
  parent: HTMLElement
  fileName: string
  readOnly: boolean
  onLines: (lines: LineRange) => void
  onPosition: (position: Position) => void
}

export interface Position {
  line: number
  column: number
  /** characters selected */
  selected: number
}

export interface MountedEditor {
  mark(lines: LineRange | null): void
  focus(): void
  destroy(): void
}

/** The editor of a document, made when it is first shown. A draft that came back can be undone to what is on disk. */
export function openDocumentEditor(document: OpenDocument): DocumentEditor {
  const known = document.editor()
  if (known !== null) return known
  const text = document.text()
  const made = createDocumentEditor(document, document.store.get().base.text ?? text)
  document.attach(made)
  if (!made.equals(text)) made.replace(text)
  return made
}

function createDocumentEditor(document: OpenDocument, initial: string): DocumentEditor {
  const lineEnding = lineEndingOf(initial)
  const language = new Compartment()
  const access = new Compartment()
  let mounted: MountOptions | null = null
  let view: EditorView | null = null
  let scroll: StateEffect<unknown> | undefined
  let compared = { text: initial, doc: docOf(initial) }
  let state = EditorState.create({
    doc: compared.doc,
    extensions: [
      language.of([]),
      access.of([]),
      history(),
      indentUnit.of(indentationOf(initial)),
      indentOnInput(),
      closeBrackets(),
      autocompletion(),
      EditorState.allowMultipleSelections.of(true),
      rectangularSelection(),
      crosshairCursor(),
      dropCursor(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) document.touched()
        if (update.docChanged || update.selectionSet) mounted?.onPosition(positionIn(update.state))
      }),
      keymap.of([...closeBracketsKeymap, ...historyKeymap, ...completionKeymap, indentWithTab]),
      codeExtensions((lines) => mounted?.onLines(lines)),
    ],
  })
  const now = () => view?.state ?? state

  function attributes({ fileName, readOnly }: MountOptions) {
    return [
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({
        'aria-label': `Content of ${fileName}`,
        tabindex: '0',
        ...(readOnly ? { 'aria-readonly': 'true' } : {}),
      }),
    ]
  }

  return {
    text: () => now().doc.sliceString(0, undefined, lineEnding),
    equals(text) {
      if (compared.text !== text) compared = { text, doc: docOf(text) }
      return now().doc.eq(compared.doc)
    },
    replace(text) {
      const change = { changes: differenceOf(now().doc.toString(), docOf(text).toString()) }
      if (view === null) state = state.update(change).state
      else view.dispatch(change)
    },
    mount(options) {
      mounted = options
      state = state.update({ effects: access.reconfigure(attributes(options)) }).state
      const shown = new EditorView({
        parent: options.parent,
        state,
        ...(scroll === undefined ? {} : { scrollTo: scroll }),
      })
      view = shown
      options.onPosition(positionIn(state))
      void loadLanguage(options.fileName).then((support) => {
        if (view === shown) shown.dispatch({ effects: language.reconfigure(support ?? []) })
      })
      return {
        mark: (lines) => markLines(shown, lines),
        focus: () => shown.focus(),
        destroy() {
          if (view === shown) {
            scroll = shown.scrollSnapshot()
            state = shown.state
            view = null
            mounted = null
          }
          shown.destroy()
        },
      }
    },
  }
}

function docOf(text: string): Text {
  return Text.of(text.split(/\r\n?|\n/))
}

function positionIn({ doc, selection }: EditorState): Position {
  const { head, from, to } = selection.main
  const line = doc.lineAt(head)
  return { line: line.number, column: head - line.from + 1, selected: to - from }
}

/** The one change between what two texts begin and end with alike: the selection and the folds around it stay. */
function differenceOf(before: string, after: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && before[from] === after[from]) from += 1
  let same = 0
  while (same < shorter - from && before.at(-1 - same) === after.at(-1 - same)) same += 1
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) }
}

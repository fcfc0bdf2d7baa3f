import { defaultKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  LanguageDescription,
  syntaxHighlighting,
} from '@codemirror/language'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { LineRange } from '../lib/line-range.ts'
import { syntaxClasses } from '../lib/syntax-classes.ts'
import { editorTheme } from './editor-theme.ts'

export interface CodeEditor {
  /** Highlights lines and brings them into sight; null takes the highlight away. */
  mark(lines: LineRange | null): void
  destroy(): void
}

interface CodeEditorOptions {
  parent: HTMLElement
  text: string
  fileName: string
  onLines: (lines: LineRange) => void
}

/** A read-only CodeMirror with line marks; its language is loaded after it is on the screen. */
export function createCodeEditor({ parent, text, fileName, onLines }: CodeEditorOptions): CodeEditor {
  const language = new Compartment()
  let anchor = 1
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({
          'aria-label': `Content of ${fileName}`,
          'aria-readonly': 'true',
          tabindex: '0',
        }),
        lineNumbers({
          domEventHandlers: {
            mousedown: (editor, block, event) => {
              const line = editor.state.doc.lineAt(block.from).number
              const extend = event instanceof MouseEvent && event.shiftKey
              if (!extend) anchor = line
              onLines({ start: Math.min(anchor, line), end: Math.max(anchor, line) })
              return true
            },
          },
        }),
        foldGutter(),
        highlightSpecialChars(),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        search({ top: true }),
        syntaxHighlighting(syntaxClasses),
        markedLines,
        language.of([]),
        keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
        editorTheme,
      ],
    }),
  })
  let destroyed = false
  void loadLanguage(fileName).then((support) => {
    if (!destroyed && support !== null) view.dispatch({ effects: language.reconfigure(support) })
  })
  return {
    mark(lines) {
      if (lines !== null) anchor = lines.start
      markLines(view, lines)
    },
    destroy() {
      destroyed = true
      view.destroy()
    },
  }
}

async function loadLanguage(fileName: string) {
  const { languages } = await import('../lib/languages.ts')
  return (await LanguageDescription.matchFilename(languages, fileName)?.load()) ?? null
}

const setMarkedLines = StateEffect.define<LineRange | null>()
const markedLine = Decoration.line({ class: 'cm-marked-line' })

const markedLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setMarkedLines)) continue
      if (effect.value === null) return Decoration.none
      const { doc } = transaction.state
      const last = Math.min(effect.value.end, doc.lines)
      const ranges = []
      for (let line = effect.value.start; line <= last; line += 1)
        ranges.push(markedLine.range(doc.line(line).from))
      return Decoration.set(ranges)
    }
    return marks.map(transaction.changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})

/** Lines outside the file mark what there is of them; a file that became shorter shows its end. */
function markLines(view: EditorView, lines: LineRange | null): void {
  const effects: StateEffect<unknown>[] = [setMarkedLines.of(lines)]
  if (lines !== null) {
    const { doc } = view.state
    const start = doc.line(Math.min(lines.start, doc.lines)).from
    effects.push(EditorView.scrollIntoView(start, { y: 'start', yMargin: 80 }))
    view.dispatch({ effects, selection: { anchor: start } })
    return
  }
  view.dispatch({ effects })
}

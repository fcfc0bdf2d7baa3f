import { defaultKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  LanguageDescription,
  type LanguageSupport,
  syntaxHighlighting,
} from '@codemirror/language'
import { gotoLine, highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { type Extension, StateEffect, StateField } from '@codemirror/state'
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

/** What every code view has, to be read or edited: numbers that mark lines, folding, search, go to line (Ctrl-G). */
export function codeExtensions(onLines: (lines: LineRange) => void): Extension {
  return [
    lineNumbers({
      domEventHandlers: {
        mousedown: (view, block, event) => {
          const line = view.state.doc.lineAt(block.from).number
          const extend = event instanceof MouseEvent && event.shiftKey
          const anchor = extend ? view.state.doc.lineAt(view.state.selection.main.head).number : line
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
    keymap.of([{ key: 'Ctrl-g', run: gotoLine }, ...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    editorTheme,
  ]
}

/** The language of a file by its name, loaded on first use; null where none is known. */
export async function loadLanguage(fileName: string): Promise<LanguageSupport | null> {
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

/**
 * Highlights lines and brings them into sight; null takes the highlight away. Lines outside the file mark what there is of
 * them; a file that became shorter shows its end.
 */
export function markLines(view: EditorView, lines: LineRange | null): void {
  const effects: StateEffect<unknown>[] = [setMarkedLines.of(lines)]
  if (lines !== null) {
    const { doc } = view.state
    const start = doc.line(Math.min(lines.start, doc.lines)).from
    // Lines that are in sight, such as those whose numbers were clicked, stay where they are.
    const { top, bottom } = view.lineBlockAt(start)
    const { scrollTop, clientHeight } = view.scrollDOM
    const isInSight = top >= scrollTop && bottom <= scrollTop + clientHeight
    if (!isInSight) effects.push(EditorView.scrollIntoView(start, { y: 'start', yMargin: 80 }))
    view.dispatch({ effects, selection: { anchor: start } })
    return
  }
  view.dispatch({ effects })
}

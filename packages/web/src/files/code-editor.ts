import { Compartment, EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import type { LineRange } from '../lib/line-range.ts'
import { codeExtensions, loadLanguage, markLines } from './editor-extensions.ts'

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
        codeExtensions(onLines),
        language.of([]),
      ],
    }),
  })
  let destroyed = false
  void loadLanguage(fileName).then((support) => {
    if (!destroyed && support !== null) view.dispatch({ effects: language.reconfigure(support) })
  })
  return {
    mark: (lines) => markLines(view, lines),
    destroy() {
      destroyed = true
      view.destroy()
    },
  }
}

import { history, historyKeymap } from '@codemirror/commands'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { codeExtensions, loadLanguage } from '../files/editor-extensions.ts'

interface CompareOptions {
  parent: HTMLElement
  theirs: string
  mine: string
  fileName: string
  sideBySide: boolean
  onMine: (text: string) => void
}

/** Unchanged lines around a difference, and how many more are folded away. */
const collapseUnchanged = { margin: 3, minSize: 6 }

/** Shows two versions with their differences marked; parts of theirs can be taken over. Returns what closes it. */
export function createCompareEditor(options: CompareOptions): () => void {
  const { parent, theirs, mine, fileName, sideBySide } = options
  const language = new Compartment()
  const shared = [codeExtensions(() => undefined), language.of([]), EditorView.lineWrapping]
  const own: Extension = [
    shared,
    history(),
    keymap.of(historyKeymap),
    EditorView.contentAttributes.of({ 'aria-label': `Your text of ${fileName}`, tabindex: '0' }),
    EditorView.updateListener.of(
      ({ docChanged, state }) => docChanged && options.onMine(state.doc.toString()),
    ),
  ]
  const readOnly = [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({
      'aria-label': `${fileName} on disk`,
      'aria-readonly': 'true',
      tabindex: '0',
    }),
  ]
  const merge = sideBySide
    ? new MergeView({
        parent,
        a: { doc: theirs, extensions: [shared, readOnly] },
        b: { doc: mine, extensions: own },
        revertControls: 'a-to-b',
        renderRevertControl: takeOverButton,
        collapseUnchanged,
        gutter: true,
      })
    : null
  const single = sideBySide
    ? null
    : new EditorView({
        parent,
        doc: mine,
        extensions: [
          own,
          unifiedMergeView({ original: theirs, mergeControls: choiceButton, collapseUnchanged }),
        ],
      })
  const views = merge === null ? [single] : [merge.a, merge.b]
  let closed = false
  void loadLanguage(fileName).then((support) => {
    if (closed || support === null) return
    for (const view of views) view?.dispatch({ effects: language.reconfigure(support) })
  })
  return () => {
    closed = true
    merge?.destroy()
    single?.destroy()
  }
}

function takeOverButton(): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = '→'
  button.setAttribute('aria-label', 'Take this part from disk')
  button.title = 'Take this part from disk'
  return button
}

/** In one column each difference is decided on its own: `reject` puts back what is on disk. */
function choiceButton(type: 'reject' | 'accept', action: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = type === 'reject' ? 'Theirs' : 'Mine'
  button.addEventListener('mousedown', action)
  return button
}

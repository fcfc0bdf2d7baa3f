import { EditorView } from '@codemirror/view'

/** The editor in the page's tokens, so that it follows the theme without being told. */
export const editorTheme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--text)', fontSize: 'var(--size)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '4px 0 40vh', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 16px 0 8px' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--faint)',
    border: 'none',
    paddingLeft: '4px',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 4px 0 8px', cursor: 'pointer' },
  '.cm-lineNumbers .cm-gutterElement:hover': { color: 'var(--text)' },
  '.cm-foldGutter .cm-gutterElement': { width: '14px', color: 'var(--faint)', cursor: 'pointer' },
  '.cm-foldGutter span[title="Fold line"]': { opacity: '0', transition: 'opacity var(--fast)' },
  '.cm-gutters:hover .cm-foldGutter span': { opacity: '1' },
  '.cm-foldPlaceholder': {
    background: 'var(--active)',
    border: 'none',
    color: 'var(--muted)',
    padding: '0 4px',
  },
  '.cm-marked-line': { backgroundColor: 'var(--mark-line)', boxShadow: 'inset 2px 0 var(--mark-edge)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selection)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--active)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--mark-edge)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--mark-edge)', color: '#000' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)', zIndex: '2' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 32px 6px 12px', fontFamily: 'var(--font)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--size-small)', color: 'var(--muted)' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--control-line)',
    borderRadius: 'var(--radius-small)',
    fontSize: 'var(--size)',
    padding: '2px 6px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    fontSize: 'var(--size-small)',
    padding: '2px 8px',
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--muted)', fontSize: '16px', top: '8px', right: '10px' },
})

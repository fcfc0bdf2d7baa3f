import type { ToolUse } from '@atelier/contract'
import {
  ChevronRight,
  CircleAlert,
  FileText,
  FolderTree,
  type LucideIcon,
  Search,
  TextSearch,
  Wrench,
} from 'lucide-react'
import { formatDuration } from '../lib/format.ts'
import styles from './answer-facts.module.css'

const known: Record<string, { icon: LucideIcon; running: string; done: string }> = {
  search_code: { icon: Search, running: 'Searching', done: 'Searched' },
  list_files: { icon: FolderTree, running: 'Listing', done: 'Listed' },
  read_file: { icon: FileText, running: 'Reading', done: 'Read' },
  grep: { icon: TextSearch, running: 'Looking for', done: 'Looked for' },
}

/** What the model called for its answer, a row each; a row opens to its arguments and result. */
export function ToolRows({ tools }: { tools: readonly ToolUse[] }) {
  if (tools.length === 0) return null
  return (
    <ul className={styles.tools} aria-label="Tools">
      {tools.map((tool) => (
        <li key={tool.id}>
          <ToolRow tool={tool} />
        </li>
      ))}
    </ul>
  )
}

function ToolRow({ tool }: { tool: ToolUse }) {
  const { name, input, state, summary, result, ms } = tool
  const words = known[name]
  const Icon = state === 'failed' ? CircleAlert : (words?.icon ?? Wrench)
  const verb = state === 'running' ? words?.running : words?.done
  return (
    <details className={styles.tool} data-state={state}>
      <summary>
        <ChevronRight size={12} aria-hidden className={styles.fold} />
        <Icon size={13} aria-hidden />
        <span className={styles.toolName} title={name}>
          {verb ?? name} <code>{subjectOf(input)}</code>
        </span>
        <span className={styles.toolEnd}>{state === 'running' ? 'running' : summary}</span>
        {ms !== null && <span className={styles.toolTime}>{formatDuration(ms)}</span>}
      </summary>
      <dl>
        <dt>Tool</dt>
        <dd>
          <code>{name}</code>
        </dd>
        <dt>Arguments</dt>
        <dd>
          <pre>{JSON.stringify(input, null, 2)}</pre>
        </dd>
        {result !== null && (
          <>
            <dt>{state === 'failed' ? 'Error' : 'Result'}</dt>
            <dd>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long result scrolls by keys */}
              <pre tabIndex={0}>{result}</pre>
            </dd>
          </>
        )}
      </dl>
    </details>
  )
}

/** The argument that a row is told by. */
function subjectOf(input: ToolUse['input']): string {
  const value = input.query ?? input.path ?? input.folder ?? Object.values(input)[0]
  if (value === undefined || value === '') return 'everything'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

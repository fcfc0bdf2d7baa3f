import {
  Box,
  Code,
  Files,
  type LucideIcon,
  MessageSquareText,
  Search,
  Settings2,
  SquareTerminal,
} from 'lucide-react'
import { Link } from 'wouter'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import type { TerminalDrawerControls } from '../terminals/use-terminal-drawer.ts'
import type { Panel } from './ide-url.ts'
import styles from './shell.module.css'
import { useIde } from './use-ide.ts'

const items: readonly (readonly [panel: Panel, label: string, icon: LucideIcon])[] = [
  ['files', 'Files', Files],
  ['search', 'Search', Search],
  ['sandbox', 'Sandbox', Box],
  ['settings', 'Workspace settings', Settings2],
]

/** The workspace's part of the activity bar. The open panel's item closes it. */
export function ActivityItems({ terminal }: { terminal: TerminalDrawerControls }) {
  const ide = useIde()
  const { layout } = useServices()
  const assistantOpen = useStore(layout, (state) => state.assistantOpen)
  const { panel } = ide.location
  return (
    <>
      <hr />
      {items.map(([target, label, Icon]) => (
        <Link
          key={target}
          href={ide.href({ panel: panel === target ? 'code' : target })}
          className={styles.activityItem}
          aria-label={label}
          data-tooltip={label}
          aria-current={panel === target ? 'page' : undefined}
        >
          <Icon size={20} strokeWidth={1.6} aria-hidden />
        </Link>
      ))}
      {terminal.offered && (
        <button
          type="button"
          className={styles.activityItem}
          aria-label="Terminal"
          data-tooltip="Terminal (Ctrl `)"
          aria-pressed={terminal.open}
          onClick={terminal.toggle}
        >
          <SquareTerminal size={20} strokeWidth={1.6} aria-hidden />
        </button>
      )}
      <button
        type="button"
        className={styles.activityItem}
        aria-label="Assistant"
        data-tooltip="Assistant"
        aria-pressed={assistantOpen}
        onClick={() => layout.set((state) => ({ ...state, assistantOpen: !state.assistantOpen }))}
      >
        <MessageSquareText size={20} strokeWidth={1.6} aria-hidden />
      </button>
    </>
  )
}

/** The panels as pages of a narrow screen. */
export function BottomBar({ terminal }: { terminal: TerminalDrawerControls }) {
  const ide = useIde()
  const pages: readonly (readonly [panel: Panel, label: string, icon: LucideIcon])[] = [
    ['files', 'Files', Files],
    ['search', 'Search', Search],
    ['code', 'Code', Code],
    ...(terminal.offered ? ([['terminal', 'Terminal', SquareTerminal]] as const) : []),
    ['chat', 'Assistant', MessageSquareText],
    ['settings', 'Settings', Settings2],
  ]
  return (
    <nav className={styles.bottomBar} aria-label="Panels">
      {pages.map(([panel, label, Icon]) => (
        <Link
          key={panel}
          href={ide.href({ panel })}
          aria-current={ide.location.panel === panel ? 'page' : undefined}
        >
          <Icon size={20} strokeWidth={1.6} aria-hidden />
          {label}
        </Link>
      ))}
    </nav>
  )
}

import { SquareTerminal, UsersRound, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { useMembers, useUser } from '../lib/queries.ts'
import { useIde } from '../shell/use-ide.ts'
import { exitWords } from './terminal-names.ts'
import styles from './terminals.module.css'
import type { NamedTerminal } from './use-terminals.ts'

interface TerminalTabsProps {
  items: readonly NamedTerminal[]
  active: NamedTerminal | undefined
  /** `focus`: the terminal takes the focus, as after a click */
  onShow: (id: string, options: { focus: boolean }) => void
  onClose: (shown: NamedTerminal) => void
}

export function TerminalTabs({ items, active, onShow, onClose }: TerminalTabsProps) {
  const bar = useRef<HTMLDivElement>(null)
  const activeId = active?.terminal.id

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new active tab comes into sight
  useEffect(() => {
    bar.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [activeId])

  const onKeyDown = (event: KeyboardEvent, shown: NamedTerminal) => {
    const at = items.indexOf(shown)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key]
    const target = next === undefined ? undefined : items.at(next % items.length)
    if (event.key === 'Delete') onClose(shown)
    else if (event.key === 'ArrowDown') onShow(shown.terminal.id, { focus: true })
    else if (target !== undefined) {
      onShow(target.terminal.id, { focus: false })
      bar.current?.querySelectorAll<HTMLElement>('[role=tab]')[items.indexOf(target)]?.focus()
    } else return
    event.preventDefault()
  }

  return (
    <div ref={bar} className={styles.tabs} role="tablist" aria-label="Terminals">
      {items.map((shown) => (
        <Tab
          key={shown.terminal.id}
          shown={shown}
          active={shown === active}
          onShow={() => onShow(shown.terminal.id, { focus: true })}
          onClose={() => onClose(shown)}
          onKeyDown={(event) => onKeyDown(event, shown)}
        />
      ))}
    </div>
  )
}

interface TabProps {
  shown: NamedTerminal
  active: boolean
  onShow: () => void
  onClose: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

function Tab({ shown: { terminal, name }, active, onShow, onClose, onKeyDown }: TabProps) {
  const opener = useOpener(terminal.createdBy)
  const end = exitWords(terminal)
  const failed = terminal.exit !== null && terminal.exit.exitCode !== 0
  const Icon = opener === null ? SquareTerminal : UsersRound
  const about = [name, opener === null ? null : `opened by ${opener}`, end].filter(Boolean).join(', ')
  return (
    <div
      role="presentation"
      className={styles.tab}
      data-active={active}
      data-ended={end !== null}
      onAuxClick={(event) => event.button === 1 && onClose()}
    >
      <button
        type="button"
        role="tab"
        id={`tab-${terminal.id}`}
        aria-selected={active}
        aria-controls={active ? 'terminal-panel' : undefined}
        aria-keyshortcuts="Delete"
        aria-label={about}
        tabIndex={active ? 0 : -1}
        className={styles.tabName}
        title={about}
        onClick={onShow}
        onKeyDown={onKeyDown}
      >
        <Icon size={14} aria-hidden />
        <span>{name}</span>
        {terminal.exit !== null && (
          <small data-failed={failed}>{terminal.exit.exitCode ?? terminal.exit.signal ?? 'ended'}</small>
        )}
      </button>
      <button
        type="button"
        tabIndex={-1}
        aria-hidden
        className={styles.tabClose}
        title={`Close ${name} (Delete)`}
        onClick={onClose}
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  )
}

/** The name of whoever opened it; null where that is the person who looks. */
function useOpener(userId: string): string | null {
  const user = useUser()
  const { workspaceId } = useIde().location
  const members = useMembers(workspaceId)
  if (userId === user.id) return null
  return members.data?.items.find((member) => member.userId === userId)?.name ?? 'somebody else'
}

import { ChevronDown, Ellipsis, Plus, SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import { useUser } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Kbd, Loading } from '../ui/feedback.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { CloseTerminal } from './close-terminal.tsx'
import { keysHelpId, TerminalPane } from './terminal-pane.tsx'
import type { Opening } from './terminal-stores.ts'
import { TerminalTabs } from './terminal-tabs.tsx'
import styles from './terminals.module.css'
import { type NamedTerminal, type Terminals, useTerminals } from './use-terminals.ts'

/** The terminals of the workspace: a drawer below the code, or a page of a narrow screen. `onHide`: where it can be hidden. */
export function TerminalDrawer({ onHide }: { onHide?: () => void }) {
  const { toasts } = useServices()
  const user = useUser()
  const terminals = useTerminals(useIde().location.workspaceId)
  const { board, items, active } = terminals
  const opening = useStore(board.opening)
  const [asked, setAsked] = useState<NamedTerminal | null>(null)

  const close = (shown: NamedTerminal) => {
    setAsked(null)
    const at = items.indexOf(shown)
    const next = items[at + 1] ?? items[at - 1]
    if (shown === active && next !== undefined) board.show(next.terminal.id)
    board
      .close(shown.terminal.id)
      .catch((error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) }))
  }
  const askToClose = (shown: NamedTerminal) => {
    const own = shown.terminal.createdBy === user.id || shown.terminal.exit !== null
    if (own) close(shown)
    else setAsked(shown)
  }

  return (
    <section className={styles.drawer} aria-label="Terminals">
      <header className={styles.bar}>
        <TerminalTabs items={items} active={active} onShow={board.show} onClose={askToClose} />
        <span className={styles.spring} />
        <p className={styles.hint}>
          <Kbd>Ctrl Shift ↑</Kbd> leaves the terminal
        </p>
        <IconButton
          icon={Plus}
          label="New terminal"
          side="left"
          disabled={opening.state === 'opening'}
          onClick={() => void board.open()}
        />
        <TerminalMenu shown={active} onClose={askToClose} />
        {onHide !== undefined && (
          <IconButton icon={ChevronDown} label="Hide terminals (Ctrl `)" side="left" onClick={onHide} />
        )}
      </header>
      <p id={keysHelpId} className="visually-hidden">
        Keys go to the program in the terminal. Control Shift Arrow up leaves it for its tab. Control grave
        accent hides the terminals.
      </p>
      {opening.state === 'failed' && (
        <div className={styles.notice}>
          <ErrorNotice
            error={opening.error}
            kept="Files and other terminals are as they were."
            onRetry={() => void board.open()}
          />
        </div>
      )}
      <Body terminals={terminals} opening={opening} onClose={askToClose} />
      {asked !== null && (
        <CloseTerminal name={asked.name} onConfirm={() => close(asked)} onCancel={() => setAsked(null)} />
      )}
    </section>
  )
}

function Body(props: { terminals: Terminals; opening: Opening; onClose: (shown: NamedTerminal) => void }) {
  const { terminals, opening, onClose } = props
  const { active, board, isPending, error, refetch } = terminals
  if (active !== undefined) {
    const { id } = active.terminal
    return (
      <div role="tabpanel" id="terminal-panel" aria-labelledby={`tab-${id}`} className={styles.panel}>
        <TerminalPane
          key={id}
          shown={active}
          board={board}
          onClose={() => onClose(active)}
          onLeave={() => document.getElementById(`tab-${id}`)?.focus()}
        />
      </div>
    )
  }
  if (opening.state === 'failed') return null
  if (opening.state === 'opening')
    return <Loading label="Opening a terminal; the workspace starts if need be" />
  if (error !== null)
    return (
      <div className={styles.notice}>
        <ErrorNotice error={error} onRetry={refetch} />
      </div>
    )
  if (isPending) return <Loading label="Loading terminals" />
  return <NoTerminals onOpen={() => void board.open()} />
}

function NoTerminals({ onOpen }: { onOpen: () => void }) {
  return (
    <EmptyState
      icon={SquareTerminal}
      title="No terminal is open"
      actions={
        <Button variant="primary" icon={Plus} onClick={onOpen}>
          New terminal
        </Button>
      }
    >
      <p>
        A shell in the sandbox of this workspace, with Node and npm. It goes on when this page is closed, and
        is found again for half an hour.
      </p>
    </EmptyState>
  )
}

function TerminalMenu(props: { shown: NamedTerminal | undefined; onClose: (shown: NamedTerminal) => void }) {
  const { settings } = useServices().terminals
  const { screenReader } = useStore(settings)
  const { shown, onClose } = props
  return (
    <MenuButton
      icon={Ellipsis}
      label="More of terminals"
      side="left"
      items={[
        {
          label: screenReader ? 'Screen reader mode: turn off' : 'Screen reader mode: turn on',
          run: () => settings.set({ screenReader: !screenReader }),
        },
        {
          label: 'Close this terminal',
          disabled: shown === undefined,
          run: () => shown && onClose(shown),
        },
      ]}
    />
  )
}

import type { TerminalStatus } from '@atelier/client'
import type { Terminal } from '@atelier/contract'
import { Eye, LoaderCircle, Plug, SquareTerminal, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import type { LiveTerminal } from './live-terminal.ts'
import { exitWords } from './terminal-names.ts'
import styles from './terminals.module.css'

interface TerminalStatusBarProps {
  status: TerminalStatus
  terminal: Terminal
  live: LiveTerminal
  onClose: () => void
  onNew: () => void
}

/** What keeps a person from typing, and what helps; nothing while they can. */
export function TerminalStatusBar({ status, terminal, live, onClose, onNew }: TerminalStatusBarProps) {
  const close = <Button onClick={onClose}>Close</Button>
  if (status.state === 'open' && status.role === 'writer') return null
  if (status.state === 'open')
    return (
      <Bar icon={Eye} actions={<Button onClick={live.takeOver}>Take over</Button>}>
        Another connection types here; you look on.
      </Bar>
    )
  if (status.state === 'connecting') return <Bar icon={LoaderCircle}>Connecting to the terminal</Bar>
  if (status.state === 'lost')
    return (
      <Bar icon={Unplug} tone="warn" actions={<Button onClick={live.reconnect}>Try now</Button>}>
        The connection was lost; trying again by itself. What runs goes on, and nothing of it is lost.
      </Bar>
    )
  if (status.state === 'exited') {
    const failed = status.exit.exitCode !== 0
    return (
      <Bar
        icon={SquareTerminal}
        tone={failed ? 'warn' : undefined}
        actions={
          <>
            {close}
            <Button onClick={onNew}>New terminal</Button>
          </>
        }
      >
        {exitWords({ exit: status.exit })}. {terminal.command?.join(' ')}
      </Bar>
    )
  }
  return (
    <Bar
      icon={Plug}
      tone="warn"
      actions={
        <>
          <Button onClick={live.reconnect}>Connect again</Button>
          {close}
        </>
      }
    >
      The server has closed this connection: {status.reason || `code ${status.code}`}. What it said is kept
      here until you close it.
    </Bar>
  )
}

function Bar(props: {
  icon: typeof Eye
  tone?: 'warn' | undefined
  actions?: ReactNode
  children: ReactNode
}) {
  const { icon: Icon, tone, actions, children } = props
  return (
    <div className={styles.status} role="status" data-tone={tone}>
      <Icon size={14} aria-hidden />
      <p>{children}</p>
      {actions}
    </div>
  )
}

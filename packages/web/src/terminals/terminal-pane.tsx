import { listWorkspacePorts } from '@atelier/contract'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { createPathResolver } from '../chat/places.ts'
import { useWorkspaceFiles } from '../files/file-tree-context.tsx'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { useMedia } from '../lib/use-media.ts'
import { useIde } from '../shell/use-ide.ts'
import { errorLine } from '../ui/describe-error.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { localPort } from './line-links.ts'
import type { LiveTerminal, TerminalActions } from './live-terminal.ts'
import { TerminalStatusBar } from './terminal-status.tsx'
import styles from './terminals.module.css'
import { TouchKeys } from './touch-keys.tsx'
import type { NamedTerminal, Terminals } from './use-terminals.ts'

export const keysHelpId = 'terminal-keys'

interface TerminalPaneProps {
  shown: NamedTerminal
  board: Terminals['board']
  onClose: () => void
  /** The person leaves the terminal by keyboard. */
  onLeave: () => void
}

/** One terminal: its code is loaded, it is connected, and whatever is in the way is said. */
export function TerminalPane({ shown, board, onClose, onLeave }: TerminalPaneProps) {
  const { terminal, name } = shown
  const [live, setLive] = useState<LiveTerminal | null>(null)
  const [error, setError] = useState<unknown>(null)
  const load = useEffectEvent(() => board.live(terminal, { label: name, describedBy: keysHelpId }))

  // biome-ignore lint/correctness/useExhaustiveDependencies: an error that is taken back tries again
  useEffect(() => {
    let left = false
    load().then(
      (loaded) => left || setLive(loaded),
      (reason: unknown) => left || setError(reason),
    )
    return () => {
      left = true
    }
  }, [terminal.id, error === null])

  if (error !== null)
    return (
      <div className={styles.notice}>
        <ErrorNotice error={error} kept="The terminal itself goes on." onRetry={() => setError(null)} />
      </div>
    )
  if (live === null) return <Loading label="Loading the terminal" />
  return <LiveView live={live} shown={shown} board={board} onClose={onClose} onLeave={onLeave} />
}

function LiveView({ live, shown, board, onClose, onLeave }: TerminalPaneProps & { live: LiveTerminal }) {
  const host = useRef<HTMLDivElement>(null)
  const { theme, connection, toasts } = useServices()
  const status = useStore(live.status)
  const choice = useStore(board.choice)
  const chosenTheme = useStore(theme)
  const systemIsDark = useMedia('(prefers-color-scheme: dark)')
  const online = useStore(connection.state) === 'online'
  const resolve = useResolver()
  const { openFile } = useIde()
  const openUrl = useOpenUrl()
  const now = useEffectEvent((): TerminalActions => {
    const report = (error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) })
    return { resolve, openFile, openUrl, leave: onLeave, report }
  })

  useEffect(() => {
    if (host.current === null) return
    return live.show(host.current, {
      resolve: (name) => now().resolve(name),
      openFile: (path, lines) => now().openFile(path, lines),
      openUrl: (url) => now().openUrl(url),
      leave: () => now().leave(),
      report: (error) => now().report(error),
    })
  }, [live])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the same terminal can be chosen again
  useEffect(() => {
    if (board.takesFocus()) live.focus()
  }, [choice])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => live.repaint(), [live, chosenTheme, systemIsDark])

  const comeBack = useEffectEvent(() => status.state === 'lost' && live.reconnect())
  useEffect(() => {
    if (online) comeBack()
  }, [online])

  return (
    <>
      <div ref={host} className={styles.screen} data-testid="terminal" />
      <TerminalStatusBar
        status={status}
        terminal={shown.terminal}
        live={live}
        onClose={onClose}
        onNew={() => void board.open()}
      />
      <TouchKeys onPress={live.press} />
    </>
  )
}

function useResolver(): (name: string) => string | null {
  const { files } = useWorkspaceFiles().tree
  return useMemo(() => createPathResolver(files), [files])
}

/** Opens an address in a tab of its own; one of the workspace itself as the preview of its port. */
function useOpenUrl(): (url: string) => void {
  const { client, toasts } = useServices()
  const { workspaceId } = useIde().location
  const openPort = async (url: string, port: number) => {
    const { items } = await client.call(listWorkspacePorts, { params: { workspaceId } })
    const found = items.find((item) => item.port === port)
    if (found === undefined) return `Nothing listens on port ${port} in this workspace`
    if (found.url === null)
      return 'This server has no domain for previews; its documentation says how to set one'
    const { pathname, search } = new URL(url)
    open(new URL(pathname + search, found.url), '_blank', 'noopener')
    return null
  }
  return (url) => {
    const port = localPort(url)
    if (port === null) {
      open(url, '_blank', 'noopener')
      return
    }
    openPort(url, port)
      .catch(errorLine)
      .then((text) => text !== null && toasts.show({ tone: 'error', text }))
  }
}

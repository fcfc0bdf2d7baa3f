import type { Workspace } from '@atelier/contract'
import { useEffect, useEffectEvent, useRef } from 'react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import type { Ide } from '../shell/use-ide.ts'

export interface TerminalDrawerControls {
  /** whether this person may use terminals here */
  offered: boolean
  open: boolean
  show(): void
  hide(): void
  toggle(): void
}

/** Opens and hides the terminals, by Ctrl-` as well. Opened by a person and without a terminal, it opens one. */
export function useTerminalDrawer(workspace: Workspace, ide: Ide): TerminalDrawerControls {
  const { layout, terminals } = useServices()
  const drawerOpen = useStore(layout, (state) => state.terminalOpen)
  const before = useRef<Element | null>(null)
  const board = terminals.of(workspace.id)
  const offered = workspace.role !== 'viewer'
  const open = offered && (ide.narrow ? ide.location.panel === 'terminal' : drawerOpen)

  const show = () => {
    before.current = document.activeElement
    ide.showPanel('terminal')
    void board.enter()
  }
  const hide = () => {
    layout.set((state) => ({ ...state, terminalOpen: false }))
    if (ide.location.panel === 'terminal') ide.go({ panel: ide.narrow ? 'code' : layout.get().side })
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus()
  }
  const onShortcut = useEffectEvent((event: KeyboardEvent) => {
    if (!offered || !event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return
    if (event.code !== 'Backquote' && event.key !== '`') return
    event.preventDefault()
    // From elsewhere it leads into the terminal that is shown already.
    const inside = document.activeElement?.closest('[aria-label="Terminals"]')
    if (open && inside) hide()
    else show()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onShortcut(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])

  return { offered, open, show, hide, toggle: () => (open ? hide() : show()) }
}

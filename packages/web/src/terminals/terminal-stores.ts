import { ApiError, type Client, type TerminalStatus } from '@atelier/client'
import { closeTerminal, createTerminal, listTerminals, type Terminal } from '@atelier/contract'
import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { createPersistedStore } from '../lib/persisted-store.ts'
import { createStore, type Store } from '../lib/store.ts'
import type { LiveTerminal, TerminalSize } from './live-terminal.ts'

const TerminalChoice = z.object({
  /** the terminal that is shown */
  active: z.string().nullable(),
  /** numbers of those without a title */
  numbers: z.record(z.string(), z.number().int()),
})
export type TerminalChoice = z.infer<typeof TerminalChoice>

const TerminalSettings = z.object({ screenReader: z.boolean() })
export type TerminalSettings = z.infer<typeof TerminalSettings>

export type Opening = { state: 'idle' } | { state: 'opening' } | { state: 'failed'; error: unknown }

/** The terminals of one workspace, as far as this page has to do with them. They stay connected until they are closed. */
export interface WorkspaceTerminals {
  readonly choice: Store<TerminalChoice>
  readonly opening: Store<Opening>
  /** those this page is connected to, as they were last known: one that the server has forgotten can still be read */
  readonly held: Store<readonly Terminal[]>
  /** Opens a new one and shows it. */
  open(): Promise<void>
  /** Opens one if there is none, and leads the focus into the one that is shown. */
  enter(): Promise<void>
  /** Shows it; `focus`: its next showing takes the focus. */
  show(id: string, options?: { focus: boolean }): void
  /** Whether the terminal shown now is to take the focus; asked once. */
  takesFocus(): boolean
  /** Hangs up and forgets it. */
  close(id: string): Promise<void>
  /** The emulator of a terminal; its code is loaded with the first. */
  live(terminal: Terminal, look: { label: string; describedBy: string }): Promise<LiveTerminal>
}

export interface TerminalStores {
  readonly settings: Store<TerminalSettings>
  of(workspaceId: string): WorkspaceTerminals
}

interface Dependencies {
  client: Client
  queryClient: QueryClient
  storage: Storage
}

export function terminalsKey(workspaceId: string) {
  return ['workspace', workspaceId, 'terminals'] as const
}

/** The query of a workspace's terminals, of everybody in it. */
export function terminalsQuery(client: Client, workspaceId: string) {
  return {
    queryKey: terminalsKey(workspaceId),
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.call(listTerminals, { query: { workspaceId } }, { signal })).items,
  }
}

export function createTerminalStores(dependencies: Dependencies): TerminalStores {
  const settings = createPersistedStore<TerminalSettings>({
    key: 'atelier.terminal-settings',
    schema: TerminalSettings,
    initial: { screenReader: false },
    storage: dependencies.storage,
  })
  const stores = new Map<string, WorkspaceTerminals>()
  return {
    settings,
    of(workspaceId) {
      const known = stores.get(workspaceId) ?? createWorkspaceTerminals(workspaceId, settings, dependencies)
      stores.set(workspaceId, known)
      return known
    },
  }
}

function createWorkspaceTerminals(
  workspaceId: string,
  settings: Store<TerminalSettings>,
  { client, queryClient, storage }: Dependencies,
): WorkspaceTerminals {
  const choice = createPersistedStore<TerminalChoice>({
    key: `atelier.terminals.${workspaceId}`,
    schema: TerminalChoice,
    initial: { active: null, numbers: {} },
    storage,
  })
  const opening = createStore<Opening>({ state: 'idle' })
  const held = createStore<readonly Terminal[]>([])
  const lives = new Map<string, Promise<LiveTerminal>>()
  const query = terminalsQuery(client, workspaceId)
  let focusNext = false
  let lastSize: (() => TerminalSize) | undefined

  const listed = (change: (items: readonly Terminal[]) => Terminal[]) =>
    queryClient.setQueryData<Terminal[]>(query.queryKey, (items) => change(items ?? []))

  function update(id: string, changed: Partial<Terminal>): void {
    const apply = (items: readonly Terminal[]) =>
      items.map((item) => (item.id === id ? { ...item, ...changed } : item))
    listed(apply)
    held.set(apply)
  }

  function onStatus(id: string, status: TerminalStatus): void {
    if (status.state === 'exited') update(id, { state: 'exited', exit: status.exit })
    if (status.state === 'refused') void queryClient.invalidateQueries({ queryKey: query.queryKey })
  }

  /** Reaches the server by a call first: that says what a refused socket cannot, as that one is signed out. */
  async function beforeRetry(id: string): Promise<void> {
    try {
      await client.call(listTerminals, { query: { id } })
    } catch (error) {
      // Then the socket says so.
      if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error
    }
  }

  async function load(
    terminal: Terminal,
    look: { label: string; describedBy: string },
  ): Promise<LiveTerminal> {
    const { createLiveTerminal } = await import('./live-terminal.ts')
    const { id } = terminal
    const live = createLiveTerminal({
      terminalId: id,
      ...look,
      settings,
      beforeRetry: () => beforeRetry(id),
      onTitle: (title) => update(id, { title }),
      onStatus: (status) => onStatus(id, status),
    })
    lastSize = live.size
    held.set((items) => [...items, terminal])
    return live
  }

  const show: WorkspaceTerminals['show'] = (id, { focus } = { focus: true }) => {
    focusNext = focus
    choice.set((current) => ({ ...current, active: id }))
  }

  async function open(): Promise<void> {
    if (opening.get().state === 'opening') return
    opening.set({ state: 'opening' })
    try {
      const terminal = await client.call(createTerminal, { body: { workspaceId, ...lastSize?.() } })
      listed((items) => [...items.filter(({ id }) => id !== terminal.id), terminal])
      show(terminal.id)
      opening.set({ state: 'idle' })
    } catch (error) {
      opening.set({ state: 'failed', error })
    }
  }

  return {
    choice,
    opening,
    held,
    open,
    async enter() {
      try {
        const items = await queryClient.fetchQuery(query)
        if (items.length === 0 && held.get().length === 0) return await open()
        focusNext = true
        // Whoever shows a terminal looks again.
        choice.set((current) => ({ ...current }))
      } catch (error) {
        opening.set({ state: 'failed', error })
      }
    },
    show,
    takesFocus() {
      const takes = focusNext
      focusNext = false
      return takes
    },
    async close(id) {
      try {
        await client.call(closeTerminal, { query: { id } })
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error
      }
      const live = lives.get(id)
      lives.delete(id)
      held.set((items) => items.filter((item) => item.id !== id))
      listed((items) => items.filter((item) => item.id !== id))
      ;(await live)?.[Symbol.dispose]()
    },
    live(terminal, look) {
      const known = lives.get(terminal.id)
      if (known !== undefined) return known
      const made = load(terminal, look)
      lives.set(terminal.id, made)
      // Code that could not be loaded is tried again the next time.
      made.catch(() => lives.delete(terminal.id))
      return made
    },
  }
}

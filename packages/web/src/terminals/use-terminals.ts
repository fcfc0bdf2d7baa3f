import type { Terminal } from '@atelier/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { numberTerminals, terminalName } from './terminal-names.ts'
import { terminalsQuery, type WorkspaceTerminals } from './terminal-stores.ts'

/** Others of the workspace open and close terminals too, in milliseconds. */
const refetchMs = 15_000

export interface NamedTerminal {
  terminal: Terminal
  name: string
}

export interface Terminals {
  board: WorkspaceTerminals
  /** in the order they were opened */
  items: readonly NamedTerminal[]
  active: NamedTerminal | undefined
  isPending: boolean
  error: unknown
  refetch(): void
}

/** The terminals of a workspace: those of the server, and those that only this page still knows. */
export function useTerminals(workspaceId: string): Terminals {
  const { client, terminals } = useServices()
  const board = terminals.of(workspaceId)
  const query = useQuery({ ...terminalsQuery(client, workspaceId), refetchInterval: refetchMs })
  const held = useStore(board.held)
  const { active, numbers } = useStore(board.choice)

  const known = merge(query.data ?? [], held)
  const ids = known.map(({ id }) => id)
  const numbered = numberTerminals(numbers, ids)
  const isKnown = query.data !== undefined && JSON.stringify(numbered) !== JSON.stringify(numbers)
  useEffect(() => {
    if (isKnown) board.choice.set((current) => ({ ...current, numbers: numbered }))
  })

  const items = known.map((terminal) => ({ terminal, name: terminalName(terminal, numbered) }))
  return {
    board,
    items,
    active: items.find(({ terminal }) => terminal.id === active) ?? items.at(-1),
    isPending: query.isPending,
    error: query.data === undefined ? query.error : null,
    refetch: () => void query.refetch(),
  }
}

function merge(listed: readonly Terminal[], held: readonly Terminal[]): Terminal[] {
  const ids = new Set(listed.map(({ id }) => id))
  return [...listed, ...held.filter(({ id }) => !ids.has(id))].sort((one, other) =>
    one.createdAt === other.createdAt
      ? one.id.localeCompare(other.id)
      : one.createdAt < other.createdAt
        ? -1
        : 1,
  )
}

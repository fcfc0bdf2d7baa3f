import type { Client } from '@atelier/client'
import type { QueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import type { ChatSessions } from '../chat/chat-sessions.ts'
import type { DocumentStores } from '../editing/document-stores.ts'
import type { TabStores } from '../files/tab-stores.ts'
import type { LayoutStore } from '../shell/layout-store.ts'
import type { TerminalStores } from '../terminals/terminal-stores.ts'
import type { ToastStore } from '../ui/toast-store.ts'
import type { ImportStores } from '../workspaces/import-stores.ts'
import type { ConnectionMonitor } from './connection.ts'
import type { Store } from './store.ts'
import type { Theme } from './theme.ts'

/** What lives as long as the page; made once in `start.tsx`. */
export interface Services {
  client: Client
  queryClient: QueryClient
  connection: ConnectionMonitor
  theme: Store<Theme>
  layout: LayoutStore
  toasts: ToastStore
  imports: ImportStores
  chats: ChatSessions
  tabs: TabStores
  documents: DocumentStores
  terminals: TerminalStores
}

const ServicesContext = createContext<Services | null>(null)

export function ServicesProvider({ services, children }: { services: Services; children: ReactNode }) {
  return <ServicesContext value={services}>{children}</ServicesContext>
}

export function useServices(): Services {
  const services = useContext(ServicesContext)
  if (services === null) throw new Error('useServices needs a ServicesProvider above it')
  return services
}

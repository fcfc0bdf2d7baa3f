import { createClient } from '@atelier/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createChatSessions } from './chat/chat-sessions.ts'
import { showStoredChat } from './chat/show-stored-chat.ts'
import { createDocumentStores } from './editing/document-stores.ts'
import { createTabStores } from './files/tab-stores.ts'
import { createConnectionMonitor } from './lib/connection.ts'
import { createQueryClient } from './lib/query-client.ts'
import { type Services, ServicesProvider } from './lib/services.tsx'
import { createThemeStore } from './lib/theme.ts'
import { watchClient } from './lib/watched-client.ts'
import { App } from './shell/app.tsx'
import { createLayoutStore } from './shell/layout-store.ts'
import { createTerminalStores } from './terminals/terminal-stores.ts'
import { createToastStore } from './ui/toast-store.ts'
import { createImportStores } from './workspaces/import-stores.ts'

function createServices(): Services {
  const queryClient = createQueryClient()
  const plain = createClient({ baseUrl: '' })
  const connection = createConnectionMonitor({
    client: plain,
    onReturn: () => void queryClient.invalidateQueries(),
  })
  const client = watchClient(plain, {
    onSignedOut: () => queryClient.setQueryData(['session'], null),
    onReached: connection.onReached,
    onUnreachable: connection.onUnreachable,
  })
  return {
    client,
    queryClient,
    connection,
    theme: createThemeStore(localStorage, document.documentElement),
    layout: createLayoutStore(localStorage),
    toasts: createToastStore(),
    imports: createImportStores({ client, queryClient }),
    chats: createChatSessions({ client, queryClient, storage: localStorage, onStored: showStoredChat }),
    tabs: createTabStores(localStorage),
    documents: createDocumentStores({ client, queryClient, storage: localStorage }),
    terminals: createTerminalStores({ client, queryClient, storage: localStorage }),
  }
}

const services = createServices()
services.connection.start()

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <ServicesProvider services={services}>
      <QueryClientProvider client={services.queryClient}>
        <App />
      </QueryClientProvider>
    </ServicesProvider>
  </StrictMode>,
)

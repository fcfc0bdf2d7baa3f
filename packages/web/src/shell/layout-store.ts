import { z } from 'zod'
import { createPersistedStore } from '../lib/persisted-store.ts'
import type { Store } from '../lib/store.ts'

const Layout = z.object({
  assistantOpen: z.boolean(),
  terminalOpen: z.boolean().default(false),
  /** the panel that opens beside the code when the address names none */
  side: z.enum(['files', 'search', 'sandbox']),
})
export type Layout = z.infer<typeof Layout>
export type LayoutStore = Store<Layout>

export function createLayoutStore(storage: Storage): LayoutStore {
  return createPersistedStore<Layout>({
    key: 'atelier.layout',
    schema: Layout,
    initial: { assistantOpen: true, terminalOpen: false, side: 'files' },
    storage,
  })
}

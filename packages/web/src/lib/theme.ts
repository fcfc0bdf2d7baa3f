import { z } from 'zod'
import { createPersistedStore } from './persisted-store.ts'
import type { Store } from './store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** The chosen theme; the document's `data-theme` follows it, and without one the system decides. */
export function createThemeStore(storage: Storage, root: HTMLElement): Store<Theme> {
  const theme = createPersistedStore<Theme>({
    key: 'atelier.theme',
    schema: z.enum(themes),
    initial: 'system',
    storage,
  })
  const apply = () => {
    const chosen = theme.get()
    if (chosen === 'system') delete root.dataset.theme
    else root.dataset.theme = chosen
  }
  apply()
  theme.subscribe(apply)
  return theme
}

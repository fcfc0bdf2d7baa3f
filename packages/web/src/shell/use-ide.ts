import { createContext, useContext } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useLocationProperty } from 'wouter/use-browser-location'
import type { LineRange } from '../lib/line-range.ts'
import { useServices } from '../lib/services.tsx'
import { useNarrow } from '../lib/use-media.ts'
import type { PreviewPlace } from '../previews/preview-place.ts'
import { type IdeLocation, ideHref, type Panel, parseIdeLocation } from './ide-url.ts'

/** What the address says, and ways to change it. */
export interface Ide {
  location: IdeLocation
  narrow: boolean
  go(change: Partial<IdeLocation>, options?: { replace?: boolean }): void
  href(change: Partial<IdeLocation>): string
  openFile(path: string, lines?: LineRange | null): void
  openScratch(id: string): void
  openPreview(place: PreviewPlace): void
  showPanel(panel: Panel): void
  /** Shows a conversation; null begins one. */
  showChat(chatId: string | null): void
}

export const IdeContext = createContext<Ide | null>(null)

/** The workspace's address; null outside a workspace. */
export function useIdeLocation(): IdeLocation | null {
  const [pathname] = useLocation()
  const search = useSearch()
  const hash = useLocationProperty(() => window.location.hash)
  return parseIdeLocation(pathname, search, hash)
}

export function useIde(): Ide {
  const ide = useContext(IdeContext)
  if (ide === null) throw new Error('useIde needs a workspace around it')
  return ide
}

export function useIdeActions(location: IdeLocation): Ide {
  const [, navigate] = useLocation()
  const { layout } = useServices()
  const narrow = useNarrow()
  const href = (change: Partial<IdeLocation>) => ideHref({ ...location, ...change })
  const go: Ide['go'] = (change, options) => navigate(href(change), options)
  /** A file opens beside the panel, or as the page itself where there is no room; settings give way to it. */
  const panelForCode = (): Panel =>
    narrow ? 'code' : location.panel === 'settings' ? 'files' : location.panel
  return {
    location,
    narrow,
    href,
    go,
    openFile: (file, lines = null) =>
      go({ file, lines, scratch: null, preview: null, panel: panelForCode() }),
    openScratch: (scratch) => go({ scratch, file: null, preview: null, lines: null, panel: panelForCode() }),
    openPreview: (preview) => go({ preview, file: null, scratch: null, lines: null, panel: panelForCode() }),
    showPanel(panel) {
      if (panel === 'chat' && !narrow) layout.set((state) => ({ ...state, assistantOpen: true }))
      if (panel === 'terminal' && !narrow) layout.set((state) => ({ ...state, terminalOpen: true }))
      else go({ panel })
    },
    showChat(chat) {
      if (!narrow) layout.set((state) => ({ ...state, assistantOpen: true }))
      go(narrow ? { chat, panel: 'chat' } : { chat })
    },
  }
}

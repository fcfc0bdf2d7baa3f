import { z } from 'zod'

/** A tab is a file, code out of an answer that belongs to no file, or what a program of the workspace shows. */
export const Tab = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    /** a tab that is not kept gives its place to the next file that is opened */
    kept: z.boolean(),
  }),
  z.object({
    kind: z.literal('scratch'),
    id: z.string(),
    title: z.string(),
    language: z.string(),
    text: z.string().max(200_000),
  }),
  z.object({ kind: z.literal('preview'), port: z.number(), path: z.string() }),
])
export type Tab = z.infer<typeof Tab>
export type ScratchTab = Extract<Tab, { kind: 'scratch' }>

/** The tabs of a workspace, and which one was shown last. */
export const OpenTabs = z.object({ tabs: z.array(Tab), lastKey: z.string().nullable() })
export interface OpenTabs {
  readonly tabs: readonly Tab[]
  readonly lastKey: string | null
}

/** The tab to show when the address names none. */
export function lastTab({ tabs, lastKey }: OpenTabs): Tab | null {
  return tabs.find((tab) => tabKey(tab) === lastKey) ?? null
}

/** What a tab is known by in lists and in the address. */
export function tabKey(tab: Tab): string {
  if (tab.kind === 'preview') return `preview:${tab.port}`
  return tab.kind === 'file' ? `file:${tab.path}` : `scratch:${tab.id}`
}

export function tabTitle(tab: Tab): string {
  if (tab.kind === 'preview') return `Port ${tab.port}`
  return tab.kind === 'file' ? tab.path.slice(tab.path.lastIndexOf('/') + 1) : tab.title
}

/** Opens a file: an open tab stays where it is, a tab that was not kept is replaced, else one is added after `activeKey`. */
export function openFileTab(tabs: readonly Tab[], path: string, activeKey: string | null): readonly Tab[] {
  if (tabs.some((tab) => tab.kind === 'file' && tab.path === path)) return tabs
  const opened: Tab = { kind: 'file', path, kept: false }
  const passing = tabs.findIndex((tab) => tab.kind === 'file' && !tab.kept)
  if (passing !== -1) return tabs.with(passing, opened)
  const active = tabs.findIndex((tab) => tabKey(tab) === activeKey)
  return active === -1 ? [...tabs, opened] : tabs.toSpliced(active + 1, 0, opened)
}

/** Shows a page of a port, in the one tab that the port has. */
export function openPreviewTab(
  tabs: readonly Tab[],
  place: { port: number; path: string },
  activeKey: string | null,
): readonly Tab[] {
  const opened: Tab = { kind: 'preview', ...place }
  const at = tabs.findIndex((tab) => tabKey(tab) === tabKey(opened))
  if (at !== -1) return tabs.with(at, opened)
  const active = tabs.findIndex((tab) => tabKey(tab) === activeKey)
  return active === -1 ? [...tabs, opened] : tabs.toSpliced(active + 1, 0, opened)
}

export function keepTab(tabs: readonly Tab[], key: string): readonly Tab[] {
  return tabs.map((tab) => (tabKey(tab) === key && tab.kind === 'file' ? { ...tab, kept: true } : tab))
}

/** Closes a tab; `next` is the tab to show if the closed one was shown: its right neighbour, else its left, else none. */
export function closeTab(tabs: readonly Tab[], key: string): { tabs: readonly Tab[]; next: Tab | null } {
  const at = tabs.findIndex((tab) => tabKey(tab) === key)
  if (at === -1) return { tabs, next: null }
  const left = tabs.toSpliced(at, 1)
  return { tabs: left, next: left[at] ?? left[at - 1] ?? null }
}

export function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`)
}

/** Where `path` is after `from` became `to`. */
export function movePath(path: string, from: string, to: string): string {
  return isAtOrBelow(path, from) ? to + path.slice(from.length) : path
}

/** Tabs follow their files to another place. */
export function moveTabs({ tabs, lastKey }: OpenTabs, from: string, to: string): OpenTabs {
  const moved = tabs.map((tab) =>
    tab.kind === 'file' ? { ...tab, path: movePath(tab.path, from, to) } : tab,
  )
  const last = tabs.findIndex((tab) => tabKey(tab) === lastKey)
  const shown = moved[last]
  return { tabs: moved, lastKey: shown === undefined ? lastKey : tabKey(shown) }
}

export function closeTabsBelow({ tabs, lastKey }: OpenTabs, path: string): OpenTabs {
  return { tabs: tabs.filter((tab) => tab.kind !== 'file' || !isAtOrBelow(tab.path, path)), lastKey }
}

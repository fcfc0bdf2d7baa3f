import { expect, test } from 'vitest'
import {
  closeTab,
  closeTabsBelow,
  keepTab,
  lastTab,
  moveTabs,
  openFileTab,
  type Tab,
  tabTitle,
} from './tabs.ts'

const file = (path: string, kept = true): Tab => ({ kind: 'file', path, kept })

test('[PAGE6] looking at files one after the other uses one tab, until a tab is kept', () => {
  let tabs = openFileTab([], 'src/a.ts', null)
  tabs = openFileTab(tabs, 'src/b.ts', 'file:src/a.ts')
  expect(tabs).toEqual([file('src/b.ts', false)])
  tabs = openFileTab(keepTab(tabs, 'file:src/b.ts'), 'src/c.ts', 'file:src/b.ts')
  expect(tabs.map(tabTitle)).toEqual(['b.ts', 'c.ts'])
  expect(openFileTab(tabs, 'src/b.ts', null)).toBe(tabs)
})

test('[PAGE6] a new tab opens beside the one that is shown', () => {
  const tabs = openFileTab([file('a'), file('b')], 'c', 'file:a')
  expect(tabs.map(tabTitle)).toEqual(['a', 'c', 'b'])
})

test('[PAGE6] closing a tab shows its right neighbour, then its left, then none', () => {
  const tabs = [file('a'), file('b')]
  expect(closeTab(tabs, 'file:a').next).toEqual(file('b'))
  expect(closeTab(tabs, 'file:b').next).toEqual(file('a'))
  expect(closeTab([file('a')], 'file:a')).toEqual({ tabs: [], next: null })
  expect(closeTab(tabs, 'file:z').tabs).toBe(tabs)
})

test('[PAGE5] coming back to a workspace shows the tab that was shown last, if it is still open', () => {
  const tabs = [file('a'), file('b')]
  expect(lastTab({ tabs, lastKey: 'file:b' })).toEqual(file('b'))
  expect(lastTab({ tabs, lastKey: 'file:gone' })).toBeNull()
})

test('[PAGE23] tabs follow a folder that moves, and go with one that is deleted', () => {
  const tabs = [file('src/a'), file('srcs'), file('src/b/c')]
  const moved = moveTabs({ tabs, lastKey: 'file:src/b/c' }, 'src', 'lib')
  expect(moved).toEqual({ tabs: [file('lib/a'), file('srcs'), file('lib/b/c')], lastKey: 'file:lib/b/c' })
  expect(closeTabsBelow(moved, 'lib').tabs).toEqual([file('srcs')])
})

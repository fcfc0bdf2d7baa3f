import { expect, it } from 'vitest'
import type { Observation } from './observe-paths.ts'
import { planChanges } from './plan-changes.ts'

const nothing: Observation = { files: [], absent: [], directories: [] }
const file = (path: string, revision: string) => ({ path, size: 1, revision })
const document = (path: string, contentSha256: string) => ({ path, contentSha256 })

it('[IDX2] what has the same content already is left alone', () => {
  const seen = { ...nothing, files: [file('a.ts', '1'), file('b.ts', '2')] }
  const plan = planChanges(seen, { at: [document('a.ts', '1'), document('b.ts', 'old')], below: [] })
  expect(plan).toEqual({ rename: [], index: [file('b.ts', '2')], remove: [] })
})

it('[IDX3] a folder that is gone takes its documents with it', () => {
  const seen = { ...nothing, absent: ['src'] }
  const below = [document('src/a.ts', '1'), document('src/b/c.ts', '2')]
  expect(planChanges(seen, { at: [], below }).remove).toEqual(['src/a.ts', 'src/b/c.ts'])
})

it('[IDX3] a file in the place of a folder replaces what was in it, and the other way round', () => {
  const nowFile = planChanges(
    { ...nothing, files: [file('a', '9')] },
    { at: [], below: [document('a/b.ts', '1')] },
  )
  expect(nowFile).toEqual({ rename: [], index: [file('a', '9')], remove: ['a/b.ts'] })
  const nowFolder = planChanges(
    { ...nothing, directories: ['a'], files: [file('a/b.ts', '9')] },
    { at: [document('a', '1')], below: [] },
  )
  expect(nowFolder).toEqual({ rename: [], index: [file('a/b.ts', '9')], remove: ['a'] })
})

it('[IDX4] a content that appears where another path has lost it is a move', () => {
  const seen = {
    ...nothing,
    absent: ['old'],
    files: [file('new/a.ts', '1'), file('new/b.ts', '1'), file('new/c.md', '2')],
  }
  const below = [document('old/a.ts', '1'), document('old/c.ts', '2'), document('old/d.ts', '3')]
  const plan = planChanges(seen, { at: [], below })
  expect(plan).toEqual({
    rename: [{ from: 'old/a.ts', to: 'new/a.ts' }],
    // The second copy is new, and another ending is read as another language.
    index: [file('new/b.ts', '1'), file('new/c.md', '2')],
    remove: ['old/c.ts', 'old/d.ts'],
  })
})

it('[IDX4] a move onto a document that is there is no move', () => {
  const seen = { ...nothing, absent: ['a.ts'], files: [file('b.ts', '1')] }
  const plan = planChanges(seen, { at: [document('a.ts', '1'), document('b.ts', '2')], below: [] })
  expect(plan).toEqual({ rename: [], index: [file('b.ts', '1')], remove: ['a.ts'] })
})

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryAt } from './directory-handle.ts'
import { applyStep, type Step, undoStep } from './steps.ts'
import { openWorkspace } from './workspace.ts'

const name = (letter: string) => letter.repeat(24)

/** A batch of every kind of step. */
const steps: Step[] = [
  { kind: 'mkdir', path: 'new' },
  { kind: 'place', staged: name('a'), path: 'new/created', backup: null },
  { kind: 'place', staged: name('b'), path: 'replaced', backup: name('c') },
  { kind: 'move', from: 'moved-from', to: 'new/moved-to' },
  { kind: 'remove', path: 'removed', backup: name('d') },
]

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'atelier-journal-'))
  for (const path of ['w', 's/stage', 'w/removed']) mkdirSync(join(home, path), { recursive: true })
  for (const [path, content] of Object.entries({
    'w/replaced': 'old',
    'w/moved-from': 'moved',
    'w/removed/inside': 'removed',
    [`s/stage/${name('a')}`]: 'created',
    [`s/stage/${name('b')}`]: 'new',
  })) {
    writeFileSync(join(home, path), content)
  }
})
afterEach(() => rmSync(home, { recursive: true }))

const before = { replaced: 'old', 'moved-from': 'moved', removed: null, 'removed/inside': 'removed' }
const after = { replaced: 'new', new: null, 'new/created': 'created', 'new/moved-to': 'moved' }

function tree(): Record<string, string | null> {
  const entries = readdirSync(join(home, 'w'), { withFileTypes: true, recursive: true })
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(home.length + 3), entry.isFile() ? readFileSync(path, 'utf8') : null]
    }),
  )
}

/** What a process that died has left: the journal, and the first steps done. */
function crashed(direction: 'apply' | 'undo', act: (context: Parameters<typeof applyStep>[1]) => void): void {
  writeFileSync(join(home, 's/journal.json'), JSON.stringify({ direction, steps }))
  using root = openDirectoryAt(join(home, 'w'))
  using stage = openDirectoryAt(join(home, 's/stage'))
  act({ root, stage })
}

async function restart(): Promise<string> {
  using workspace = await openWorkspace({ rootPath: join(home, 'w'), statePath: join(home, 's'), epoch: 1n })
  return workspace.recovered
}

const counts = Array.from({ length: steps.length + 1 }, (_, count) => count)

describe('after a crash', () => {
  it.each(counts)('[AGT15] a batch of which %i steps were done is done whole', async (count) => {
    crashed('apply', (context) => {
      for (const step of steps.slice(0, count)) applyStep(step, context)
    })
    expect(await restart()).toBe('completed')
    expect(tree()).toEqual(after)
    expect(readdirSync(join(home, 's')).toSorted()).toEqual(['epoch', 'stage'])
    expect(readdirSync(join(home, 's/stage'))).toEqual([])
  })

  it.each(counts)('[AGT15] undoing that got through %i steps is finished', async (count) => {
    crashed('undo', (context) => {
      for (const step of steps) applyStep(step, context)
      for (const step of steps.toReversed().slice(0, count)) undoStep(step, context)
    })
    expect(await restart()).toBe('undone')
    expect(tree()).toEqual(before)
    expect(readdirSync(join(home, 's/stage'))).toEqual([])
  })

  it('[AGT15] what cannot be finished, because somebody has stood in the way since, is undone', async () => {
    crashed('apply', (context) => {
      for (const step of steps.slice(0, 3)) applyStep(step, context)
    })
    rmSync(join(home, 'w/moved-from'))
    writeFileSync(join(home, 'w/new/moved-to'), 'in the way')
    mkdirSync(join(home, 'w/removed-too'))
    rmSync(join(home, 'w/removed'), { recursive: true })
    writeFileSync(join(home, `s/stage/${name('d')}`), 'in the way')
    writeFileSync(join(home, 'w/removed'), 'came back')
    expect(await restart()).toBe('undone')
    expect(tree()).toMatchObject({ replaced: 'old', removed: 'came back' })
    expect(existsSync(join(home, 'w/new/created'))).toBe(false)
  })

  it('[AGT15] doing steps twice changes nothing more, and so does undoing them', () => {
    crashed('apply', (context) => {
      for (const step of [...steps, ...steps]) applyStep(step, context)
      expect(tree()).toEqual(after)
      for (const step of steps.toReversed().flatMap((each) => [each, each])) undoStep(step, context)
      expect(tree()).toEqual(before)
    })
  })

  it.each([
    'nonsense',
    '{"direction":"apply"}',
    '{"direction":"apply","steps":[{"kind":"remove","path":"../x","backup":"y"}]}',
  ])('[AGT15] a journal that is not ours is thrown away: %s', async (content) => {
    writeFileSync(join(home, 's/journal.json'), content)
    expect(await restart()).toBe('none')
    expect(tree()).toEqual(before)
    expect(existsSync(join(home, 's/journal.json'))).toBe(false)
  })
})

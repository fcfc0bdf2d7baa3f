import { ApiError } from '@atelier/client'
import { describe, expect, test, vi } from 'vitest'
import { createDrafts, maxDraftCharacters, mostDrafts } from './drafts.ts'
import { indentationOf, lineEndingOf } from './line-endings.ts'
import { createOpenDocument, type DiskVersion } from './open-document.ts'

/** The browser's storage, as far as drafts use it. */
function createStorage(): Storage {
  const storage = Object.create({
    getItem: (key: string) => storage[key] ?? null,
    setItem: (key: string, value: string) => {
      storage[key] = value
    },
    removeItem: (key: string) => {
      delete storage[key]
    },
  })
  return storage
}

/** A disk with one file, whose revision is counted; it refuses writers that have not seen the last one. */
function createPlace(storage = createStorage()) {
  const disk = { revision: 'r1' as string | null, text: 'one' as string | null }
  let writes = 1
  const open = () =>
    createOpenDocument({
      path: 'a.txt',
      disk: { revision: disk.revision, text: disk.text ?? '' },
      drafts: createDrafts({ prefix: 'd.', storage }),
      async write(_path, text, baseRevision) {
        if (baseRevision !== disk.revision) throw conflict()
        writes += 1
        Object.assign(disk, { revision: `r${writes}`, text })
        return { revision: disk.revision }
      },
      read: async (): Promise<DiskVersion> => ({ ...disk }),
      onSaved: () => undefined,
    })
  return { disk, storage, open }
}

function conflict(): ApiError {
  return new ApiError({ code: 'CONFLICT', status: 409, message: 'stale' })
}

describe('a document that is edited', () => {
  test('[PAGE19] is saved over what it was read from, and is not edited then', async () => {
    const { disk, open } = createPlace()
    const document = open()
    document.restore('two')
    expect(document.store.get().edited).toBe(true)
    expect(await document.save()).toBe(true)
    expect(document.store.get()).toMatchObject({ edited: false, base: { revision: 'r2', text: 'two' } })
    expect(disk.text).toBe('two')
  })

  test('[PAGE21] becomes a choice where the disk has another text, and nothing is written before', async () => {
    const { disk, open } = createPlace()
    const document = open()
    document.restore('mine')
    Object.assign(disk, { revision: 'r9', text: 'theirs' })
    expect(await document.save()).toBe(false)
    expect(document.store.get().theirs).toEqual({ revision: 'r9', text: 'theirs' })
    expect([disk.text, document.text()]).toEqual(['theirs', 'mine'])
    expect(await document.keepMine()).toBe(true)
    expect([disk.text, document.store.get().theirs]).toEqual(['mine', null])
  })

  test('[PAGE21] theirs can be taken, and what was given up comes back', async () => {
    const { open } = createPlace()
    const document = open()
    document.restore('mine')
    document.seen({ revision: 'r9', text: 'theirs' })
    const mine = document.takeTheirs()
    expect([document.text(), document.store.get().edited]).toEqual(['theirs', false])
    document.restore(mine)
    expect([document.text(), document.store.get().edited]).toEqual(['mine', true])
  })

  test('[PAGE21] a file that was deleted meanwhile is made again by keeping mine', async () => {
    const { disk, open } = createPlace()
    const document = open()
    document.restore('mine')
    Object.assign(disk, { revision: null, text: null })
    document.seen({ revision: null, text: null })
    expect(document.store.get().theirs).toEqual({ revision: null, text: null })
    expect(await document.keepMine()).toBe(true)
    expect(disk.text).toBe('mine')
  })

  test('[PAGE21] the same text on disk is no conflict: an answer that was lost did arrive', async () => {
    const { disk, open } = createPlace()
    const document = open()
    document.restore('mine')
    Object.assign(disk, { revision: 'r9', text: 'mine' })
    await document.save()
    expect(document.store.get()).toMatchObject({ edited: false, theirs: null, base: { revision: 'r9' } })
  })

  test('[PAGE23] keeps its edits where its file moves, though the old place is seen empty first', async () => {
    const { disk, open } = createPlace()
    const document = open()
    document.restore('mine')
    document.seen({ revision: null, text: null })
    document.moved('b.txt')
    expect(document.store.get()).toMatchObject({ edited: true, theirs: null })
    expect([await document.save(), disk.text]).toEqual([true, 'mine'])
  })

  test('[PAGE21] without edits it follows the disk quietly', () => {
    const document = createPlace().open()
    document.seen({ revision: 'r9', text: 'theirs' })
    expect([document.text(), document.store.get().edited]).toEqual(['theirs', false])
  })
})

describe('a draft', () => {
  test('[PAGE20] comes back after a reload, and as a conflict where the disk has changed since', () => {
    const { disk, storage, open } = createPlace()
    const document = open()
    document.restore('draft')
    document.flush()
    expect(open().text()).toBe('draft')
    Object.assign(disk, { revision: 'r9', text: 'theirs' })
    const again = createPlace(storage)
    Object.assign(again.disk, disk)
    expect(again.open().store.get()).toMatchObject({ edited: true, theirs: { text: 'theirs' } })
  })

  test('[PAGE20] that is on disk already is none any more', () => {
    const { disk, storage, open } = createPlace()
    const document = open()
    document.restore('draft')
    document.flush()
    disk.text = 'draft'
    expect(open().store.get().edited).toBe(false)
    expect(Object.keys(storage)).toEqual([])
  })

  test('[PAGE20] goes with its edits', () => {
    const { storage, open } = createPlace()
    const document = open()
    document.restore('draft')
    document.flush()
    document.restore('one')
    expect(Object.keys(storage)).toEqual([])
  })

  test('[PAGE20] drafts are bounded: the oldest give way, and a text that is too long is not kept', () => {
    const storage = createStorage()
    const drafts = createDrafts({ prefix: 'd.', storage })
    const now = vi.spyOn(Date, 'now')
    for (let at = 0; at <= mostDrafts; at += 1) {
      now.mockReturnValue(at)
      drafts.write(`${at}.txt`, { baseRevision: null, text: 'x' })
    }
    now.mockRestore()
    expect([drafts.read('0.txt'), drafts.paths().length]).toEqual([null, mostDrafts])
    drafts.write('long.txt', { baseRevision: null, text: 'x'.repeat(maxDraftCharacters + 1) })
    expect(drafts.read('long.txt')).toBeNull()
  })
})

test('[PAGE19] line endings and indentation are those the text has', () => {
  expect([lineEndingOf('a\r\nb\r\nc\n'), lineEndingOf('a\nb'), lineEndingOf('')]).toEqual([
    '\r\n',
    '\n',
    '\n',
  ])
  expect(indentationOf('a {\n\tb\n}')).toBe('\t')
  expect(indentationOf('a:\n    b\n    c\n        d')).toBe('    ')
  expect(indentationOf('a {\n  b {\n    c\n  }\n}')).toBe('  ')
})

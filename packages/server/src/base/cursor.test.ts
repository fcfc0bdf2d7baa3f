import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, toPage } from './cursor.ts'
import { newId } from './ids.ts'

describe('a cursor', () => {
  it('[WS5, JOB12] is the place of its id, for lists of such ids alone', () => {
    const id = newId('job')
    expect(decodeCursor(encodeCursor(id), 'job')).toBe(id)
    expect(decodeCursor(undefined, 'job')).toBeUndefined()
    for (const wrong of [
      encodeCursor(newId('workspace')),
      encodeCursor(`${id}'`),
      encodeCursor(''),
      id,
      '%',
      `${encodeCursor(id)}=`,
    ]) {
      expect(() => decodeCursor(wrong, 'job')).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
    }
  })

  it('[WS5, JOB12] leads on only where there is more', () => {
    const rows = ['a', 'b', 'c'].map((id) => ({ id }))
    expect(toPage(rows, 3)).toEqual({ items: rows, nextCursor: null })
    expect(toPage(rows, 2)).toEqual({ items: rows.slice(0, 2), nextCursor: encodeCursor('b') })
    expect(toPage([], 2)).toEqual({ items: [], nextCursor: null })
  })
})

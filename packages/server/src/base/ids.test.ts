import { ChatId } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import { newId } from './ids.ts'

describe('ids', () => {
  it('[HTTP14] ids of one process increase and never repeat', () => {
    const ids = Array.from({ length: 20_000 }, () => newId('chat'))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted()).toEqual(ids)
    expect(ChatId.safeParse(ids[0]).success).toBe(true)
  })
})

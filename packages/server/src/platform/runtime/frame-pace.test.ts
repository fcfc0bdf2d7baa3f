import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createFramePace } from './frame-pace.ts'

describe('the pace of an agent', () => {
  it.each([
    ['frames', 4000, 0],
    ['large headers', 4, 256_000],
  ])(
    '[AGT8] too many %s hold its stream back for the rest of the turn, and no longer',
    async (_name, count, headerBytes) => {
      const stream = new PassThrough()
      const flowing = once(stream, 'resume')
      stream.resume()
      await flowing
      const pace = createFramePace(stream)
      for (let frame = 0; frame < count - 1; frame += 1) pace.spend(headerBytes)
      expect(stream.isPaused()).toBe(false)
      pace.spend(headerBytes)
      expect(stream.isPaused()).toBe(true)
      await once(stream, 'resume')
      expect(stream.isPaused()).toBe(false)
    },
  )
})

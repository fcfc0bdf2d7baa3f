import { describe, expect, it } from 'vitest'
import { createReceiveWindow, createSendWindow } from './agent-flow.ts'
import { createInbox } from './agent-inbox.ts'

describe('flow control', () => {
  it('[AGT4] a sender waits when its grant is used up and goes on when there is more', async () => {
    const window = createSendWindow(10)
    window.spend(10)
    let sent = false
    const waiting = window.ready().then(() => {
      sent = true
    })
    await Promise.resolve()
    expect(sent).toBe(false)
    window.grant(1)
    await waiting
    expect(sent).toBe(true)
  })

  it('[AGT4] a grant may be overdrawn by one frame, and what is overdrawn counts against the next', async () => {
    const window = createSendWindow(1)
    expect(window.open()).toBe(true)
    window.spend(100)
    window.grant(50)
    expect(window.open()).toBe(false)
    window.grant(50)
    expect(window.open()).toBe(true)
  })

  it('[AGT5] waiting for a grant ends with the call', async () => {
    const window = createSendWindow(0)
    const waiting = window.ready()
    window.close(new Error('over'))
    await expect(waiting).rejects.toThrow('over')
    await expect(window.ready()).rejects.toThrow('over')
  })

  it('[AGT4] a receiver notices what was not granted', () => {
    const window = createReceiveWindow(10, () => undefined)
    expect(window.accept(10)).toBe(true)
    expect(window.accept(1)).toBe(false)
  })

  it('[AGT4] a receiver grants what its reader has taken, in few messages', () => {
    const granted: number[] = []
    const window = createReceiveWindow(100, (bytes) => granted.push(bytes))
    for (let taken = 0; taken < 100; taken += 10) {
      window.accept(10)
      window.consume(10)
    }
    expect(granted).toEqual([50, 50])
  })
})

describe('inbox', () => {
  it('[AGT4] only what has left it is granted again, read or dropped', async () => {
    const taken: number[] = []
    const inbox = createInbox<number>((item) => taken.push(item))
    inbox.push(1)
    inbox.push(2)
    inbox.push(3)
    expect(taken).toEqual([])
    for await (const item of inbox) {
      expect(item).toBe(1)
      break
    }
    expect(taken).toEqual([1, 2, 3])
    inbox.push(4)
    expect(taken).toEqual([1, 2, 3, 4])
  })

  it('[AGT5] a failure reaches the reader who waits', async () => {
    const inbox = createInbox<number>(() => undefined)
    const reading = (async () => {
      for await (const _ of inbox);
    })()
    inbox.fail(new Error('gone'))
    await expect(reading).rejects.toThrow('gone')
  })
})

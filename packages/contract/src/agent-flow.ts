/**
 * Flow control of one direction of one call. The receiver grants bytes; a frame may be sent while the grant is
 * positive, so it may be overdrawn by one frame. Data costs `dataCost`, an event of the agent its header; controls of
 * the server cost nothing.
 */

/** What a frame of data costs beside its bytes: many small ones are work too, and must not pile up. */
const frameOverhead = 64

/** The cost of a data frame with so many bytes. */
export function dataCost(bytes: number): number {
  return bytes + frameOverhead
}

export interface SendWindow {
  /** true while a frame may be sent */
  open(): boolean
  /** resolves when a frame may be sent; rejects with the reason given to `close` */
  ready(): Promise<void>
  spend(bytes: number): void
  grant(bytes: number): void
  /** no frame will ever be sent again */
  close(reason: Error): void
}

/** Grants are small integers from the peer; a sum above this is a broken peer, not a large window. */
const largestWindow = 64 * 1024 * 1024

export function createSendWindow(initial: number): SendWindow {
  let credit = initial
  let closed: Error | undefined
  let waiting: { resolve: () => void; reject: (reason: Error) => void }[] = []

  function release(act: (waiter: { resolve: () => void; reject: (reason: Error) => void }) => void): void {
    const released = waiting
    waiting = []
    for (const waiter of released) act(waiter)
  }

  return {
    open: () => closed === undefined && credit > 0,
    ready() {
      if (closed !== undefined) return Promise.reject(closed)
      if (credit > 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
      })
    },
    spend(bytes) {
      credit -= bytes
    },
    grant(bytes) {
      credit = Math.min(credit + bytes, largestWindow)
      if (credit > 0) release((waiter) => waiter.resolve())
    },
    close(reason) {
      closed ??= reason
      release((waiter) => waiter.reject(reason))
    },
  }
}

export interface ReceiveWindow {
  /** Books an arrived frame; false if the sender had no grant left, which is a breach of the protocol. */
  accept(bytes: number): boolean
  /** Books what the consumer has taken; grants are collected until half the window is due. */
  consume(bytes: number): void
}

export function createReceiveWindow(size: number, grant: (bytes: number) => void): ReceiveWindow {
  let outstanding = size
  let due = 0
  return {
    accept(bytes) {
      if (outstanding <= 0) return false
      outstanding -= bytes
      return true
    },
    consume(bytes) {
      due += bytes
      if (due * 2 < size) return
      const granted = due
      due = 0
      outstanding += granted
      grant(granted)
    },
  }
}

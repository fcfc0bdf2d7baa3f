/** What has arrived for a call and waits for its reader, in order, until the sender ends it. Read once. */
export interface Inbox<Item> extends AsyncIterable<Item> {
  push(item: Item): void
  end(): void
  /** Ends the reading with a failure; what has not been read is dropped. */
  fail(reason: Error): void
}

/** `taken` hears of every item that has left the inbox, read or dropped: only then may the sender send as much again. */
export function createInbox<Item>(taken: (item: Item) => void): Inbox<Item> {
  const items: Item[] = []
  let state: 'open' | 'ended' | Error = 'open'
  let wake: (() => void) | undefined

  function notify(): void {
    wake?.()
    wake = undefined
  }

  function drop(): void {
    for (const item of items.splice(0)) taken(item)
  }

  return {
    push(item) {
      if (state !== 'open') return taken(item)
      items.push(item)
      notify()
    },
    end() {
      if (state === 'open') state = 'ended'
      notify()
    },
    fail(reason) {
      if (state instanceof Error) return
      state = reason
      drop()
      notify()
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          if (state instanceof Error) throw state
          const item = items.shift()
          if (item !== undefined) {
            taken(item)
            yield item
          } else if (state === 'ended') {
            return
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
        }
      } finally {
        // A reader that has left reads no more.
        if (state === 'open') state = 'ended'
        drop()
      }
    },
  }
}

/** Writers of one path take turns; work that concerns many paths waits for all and runs alone. */
export interface PathLocks {
  one<Value>(path: string, act: () => Promise<Value>): Promise<Value>
  all<Value>(act: () => Promise<Value>): Promise<Value>
}

export function createPathLocks(): PathLocks {
  const tails = new Map<string, Promise<void>>()
  let gate: Promise<void> = Promise.resolve()

  return {
    async one(path, act) {
      const before = Promise.all([gate, tails.get(path)])
      const { tail, release } = turn()
      tails.set(path, tail)
      try {
        await before
        return await act()
      } finally {
        release()
        if (tails.get(path) === tail) tails.delete(path)
      }
    },
    async all(act) {
      const before = Promise.all([gate, ...tails.values()])
      const { tail, release } = turn()
      gate = tail
      try {
        await before
        return await act()
      } finally {
        release()
      }
    },
  }
}

function turn(): { tail: Promise<void>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { tail: promise, release: () => resolve() }
}

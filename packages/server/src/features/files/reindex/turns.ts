/** Lets at most `width` pieces of work run at once; the others wait in the order they came. */
export interface Turns {
  run<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createTurns(width: number): Turns {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    async run(work) {
      if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve))
      else running += 1
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        // Whoever waits takes over the place.
        if (next) next()
        else running -= 1
      }
    },
  }
}

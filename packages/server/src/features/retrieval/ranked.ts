/** Something found, with its score in one leg. */
export interface Scored<Item> {
  item: Item
  score: number
}

/** The `limit` best, best first; ties keep the order of arrival. A binary heap, worst on top. */
export function createTopRanked<Item>(limit: number) {
  const heap: (Scored<Item> & { arrival: number })[] = []
  let arrivals = 0
  const worse = (left: (typeof heap)[number], right: (typeof heap)[number]) =>
    left.score < right.score || (left.score === right.score && left.arrival > right.arrival)
  const swap = (left: number, right: number) => {
    const moved = heap[left]
    const other = heap[right]
    if (moved === undefined || other === undefined) return
    heap[left] = other
    heap[right] = moved
  }
  const isWorse = (left: number, right: number) => {
    const [one, other] = [heap[left], heap[right]]
    return one !== undefined && other !== undefined && worse(one, other)
  }
  const rise = (from: number) => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!isWorse(at, parent)) return
      swap(at, parent)
      at = parent
    }
  }
  const sink = () => {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const child = isWorse(left + 1, left) ? left + 1 : left
      if (!isWorse(child, at)) return
      swap(at, child)
      at = child
    }
  }
  return {
    /** Scores at or below this can be left out. */
    floor: (): number => (heap.length < limit ? Number.NEGATIVE_INFINITY : (heap[0]?.score ?? 0)),
    offer(item: Item, score: number): void {
      if (limit === 0 || (heap.length >= limit && score <= (heap[0]?.score ?? 0))) return
      const entry = { item, score, arrival: arrivals }
      arrivals += 1
      if (heap.length < limit) {
        heap.push(entry)
        rise(heap.length - 1)
      } else {
        heap[0] = entry
        sink()
      }
    },
    list: (): Scored<Item>[] =>
      heap
        .toSorted((left, right) => (worse(left, right) ? 1 : -1))
        .map(({ item, score }) => ({ item, score })),
  }
}

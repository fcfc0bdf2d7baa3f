import type { Corpus, CorpusChunk } from './corpus.ts'

/** A question with the chunks that answer it, as numbers of its corpus. */
export interface JudgedQuestion {
  question: string
  answers: ReadonlySet<number>
}

export interface Quality {
  questions: number
  mrrAt10: number
  /** 95 % interval of mrrAt10, bootstrap over questions */
  interval: [low: number, high: number]
  recallAt1: number
  recallAt5: number
  recallAt10: number
}

/** Rank of the first answer among the first ten, from 1; 0 when there is none. */
export function rankOfAnswer(ranked: readonly number[], answers: ReadonlySet<number>): number {
  return ranked.slice(0, 10).findIndex((chunk) => answers.has(chunk)) + 1
}

export function qualityOf(ranks: readonly number[]): Quality {
  const share = (within: number) =>
    round(ranks.filter((rank) => rank > 0 && rank <= within).length / ranks.length)
  return {
    questions: ranks.length,
    mrrAt10: round(meanReciprocal(ranks)),
    interval: bootstrap(ranks),
    recallAt1: share(1),
    recallAt5: share(5),
    recallAt10: share(10),
  }
}

function meanReciprocal(ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + (rank > 0 ? 1 / rank : 0), 0) / ranks.length
}

const resamples = 1_000

function bootstrap(ranks: readonly number[]): [number, number] {
  let state = 20_261_121
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const means = Array.from({ length: resamples }, () =>
    meanReciprocal(ranks.map(() => ranks[Math.floor(random() * ranks.length)] ?? 0)),
  ).toSorted((left, right) => left - right)
  return [round(means[Math.floor(resamples * 0.025)] ?? 0), round(means[Math.floor(resamples * 0.975)] ?? 0)]
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

/** Chunks with a line, and their copies elsewhere: a copy answers as well. */
export function chunksWithLine(corpus: Pick<Corpus, 'chunks'>): (path: string, line: number) => Set<number> {
  const byPath = new Map<string, number[]>()
  const byContent = new Map<string, number[]>()
  const add = (map: Map<string, number[]>, key: string, chunk: number) => {
    const own = map.get(key)
    if (own === undefined) map.set(key, [chunk])
    else own.push(chunk)
  }
  for (const [number, chunk] of corpus.chunks.entries()) {
    add(byPath, chunk.path, number)
    add(byContent, chunk.content, number)
  }
  const holds = (chunk: CorpusChunk | undefined, line: number) =>
    chunk !== undefined && chunk.startLine <= line && line <= chunk.endLine
  return (path, line) => {
    const own = (byPath.get(path) ?? []).filter((number) => holds(corpus.chunks[number], line))
    return new Set(own.flatMap((number) => byContent.get(corpus.chunks[number]?.content ?? '') ?? []))
  }
}

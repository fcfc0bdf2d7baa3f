import { openTestDatabase } from '@atelier/testkit'
import type { Kysely } from 'kysely'
import { createGrammars, type Grammars } from '../packages/server/src/features/retrieval/grammars.ts'
import { createThesaurus } from '../packages/server/src/features/retrieval/thesaurus.ts'
import { writeResults } from './harness.ts'
import { fixedWindows, plainBm25, postgresTextSearch, type Ranker } from './retrieval/baselines.ts'
import { buildCorpus } from './retrieval/corpus.ts'
import { chunksWithLine, qualityOf, rankOfAnswer } from './retrieval/quality.ts'
import {
  type Answer,
  docstringSet,
  heldOutSources,
  pythonSet,
  type QuestionSet,
  tuningSources,
  writtenSets,
} from './retrieval/question-sets.ts'
import { heldOut, heldOutPackages, tuning, tuningPackages } from './retrieval/questions.ts'
import { ownRankers } from './retrieval/rankers.ts'

/**
 * How well search finds the lines that answer a question. Weights, dimensions and the thesaurus were chosen on the `tuning`
 * sets alone; `heldOut` packages were not looked at meanwhile.
 */
const grammars = createGrammars()
const thesaurus = createThesaurus()
await using database = await openTestDatabase('pglite')
// The embedded database is used as a PostgreSQL with full text search, beside its own tables.
const kysely = database.kysely as unknown as Kysely<unknown>

const python = await pythonSet(grammars)
const results = {
  heldOut: {
    docstrings: await measure([await docstringSet(heldOutSources, grammars)]),
    ...(python === null ? {} : { docstringsPython: await measure([python]) }),
    written: await measure(writtenSets(heldOutPackages, heldOut)),
  },
  tuning: {
    docstrings: await measure([await docstringSet(tuningSources, grammars)]),
    written: await measure(writtenSets(tuningPackages, tuning)),
  },
}
writeResults('retrieval-quality', results)

/** Each set is a workspace of its own; the questions of all count alike. */
async function measure(sets: readonly QuestionSet[]) {
  const ranks: Record<string, number[]> = {}
  const chunks: number[] = []
  for (const set of sets) {
    const { rankers, size } = await contestants(set, grammars)
    chunks.push(size)
    for (const [name, { rank, answersTo }] of Object.entries(rankers)) {
      const own: number[] = []
      for (const asked of set.questions) own.push(rankOfAnswer(await rank(asked.question), answersTo(asked)))
      ranks[name] = [...(ranks[name] ?? []), ...own]
    }
  }
  const quality = Object.entries(ranks).map(([name, own]) => [name, qualityOf(own)] as const)
  return {
    chunks: chunks.reduce((sum, count) => sum + count, 0),
    workspaces: sets.length,
    ...Object.fromEntries(quality),
  }
}

interface Contestant {
  rank: Ranker
  answersTo(asked: QuestionSet['questions'][number]): ReadonlySet<number>
}

async function contestants(set: QuestionSet, withGrammars: Grammars) {
  const corpus = await buildCorpus(set.files, withGrammars)
  const windows = fixedWindows(set.files)
  const texts = corpus.chunks.map(({ content }) => content)
  const answersIn = (chunks: typeof windows): Contestant['answersTo'] => {
    const withLine = chunksWithLine({ chunks })
    const find = ({ path, line }: Answer) =>
      line === '*'
        ? [...chunks.keys()].filter((number) => chunks[number]?.path === path)
        : [...withLine(path, line)]
    return ({ answers: lines }) => new Set(lines.flatMap(find))
  }
  const inWindows = answersIn(windows)
  const inChunks = answersIn(corpus.chunks)
  const own = ownRankers(corpus, thesaurus)
  const rankers: Record<string, Contestant> = {
    fixedWindowsBm25: { rank: plainBm25(windows.map(({ content }) => content)), answersTo: inWindows },
    plainBm25: { rank: plainBm25(texts), answersTo: inChunks },
    postgresTsRank: { rank: await postgresTextSearch(kysely, texts), answersTo: inChunks },
    vector: { rank: own.vector, answersTo: inChunks },
    lexical: { rank: own.lexical, answersTo: inChunks },
    fused: { rank: own.fused, answersTo: inChunks },
  }
  return { rankers, size: corpus.chunks.length }
}

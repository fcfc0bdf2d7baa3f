import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { CorpusChunk, SourceText } from './corpus.ts'

export type Ranker = (question: string) => number[] | Promise<number[]>

/** BM25 as libraries have it out of the box: lower-case words, k1 = 1.2, b = 0.75. */
export function plainBm25(texts: readonly string[]): Ranker {
  const postings = new Map<string, Map<number, number>>()
  const lengths = texts.map((text, chunk) => {
    const words = wordsOf(text)
    for (const word of words) {
      const own = postings.get(word) ?? new Map<number, number>()
      own.set(chunk, (own.get(chunk) ?? 0) + 1)
      postings.set(word, own)
    }
    return words.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  return (question) => {
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(question))) {
      const own = postings.get(word)
      if (own === undefined) continue
      const idf = Math.log(1 + (texts.length - own.size + 0.5) / (own.size + 0.5))
      for (const [chunk, count] of own) {
        const norm = count + 1.2 * (0.25 + (0.75 * (lengths[chunk] ?? 0)) / mean)
        scores.set(chunk, (scores.get(chunk) ?? 0) + (idf * count * 2.2) / norm)
      }
    }
    return [...scores].toSorted((left, right) => right[1] - left[1]).map(([chunk]) => chunk)
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
}

/** Windows of 1,000 characters that share 100 with the one before, the default of common RAG stacks. */
export function fixedWindows(files: readonly SourceText[]): CorpusChunk[] {
  const size = 1_000
  const step = 900
  return files.flatMap(({ path, text }) => {
    const windows: CorpusChunk[] = []
    for (let from = 0; from === 0 || from + size - step < text.length; from += step) {
      const content = text.slice(from, from + size)
      const startLine = text.slice(0, from).split('\n').length
      windows.push({
        path,
        startLine,
        endLine: startLine + content.split('\n').length - 1,
        content,
        symbols: [],
        header: '',
      })
    }
    return windows
  })
}

/** PostgreSQL's own full text search: `english`, any of the words, `ts_rank`. */
export async function postgresTextSearch(kysely: Kysely<unknown>, texts: readonly string[]): Promise<Ranker> {
  await sql`drop table if exists quality_texts`.execute(kysely)
  await sql`create table quality_texts (id integer primary key, words tsvector)`.execute(kysely)
  for (let from = 0; from < texts.length; from += 200) {
    const page = texts.slice(from, from + 200)
    await sql`insert into quality_texts select number, to_tsvector('english', text)
      from unnest(${page.map((_, index) => from + index)}::integer[], ${page}::text[]) as page (number, text)`.execute(
      kysely,
    )
  }
  await sql`create index on quality_texts using gin (words)`.execute(kysely)
  return async (question) => {
    const { rows } = await sql<{ id: number }>`
      with question as (select replace(plainto_tsquery('english', ${question})::text, '&', '|')::tsquery as words)
      select id from quality_texts as own, question where own.words @@ question.words
      order by ts_rank(own.words, question.words) desc, id limit 10`.execute(kysely)
    return rows.map(({ id }) => id)
  }
}

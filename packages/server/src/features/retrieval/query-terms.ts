import { countTerms } from './code-tokenizer.ts'
import { postingsOf } from './index-segment.ts'
import { lightStem } from './light-stem.ts'
import { type Intent, intentOf } from './source-kind.ts'
import { termHash } from './term-hash.ts'
import type { Thesaurus } from './thesaurus.ts'
import type { IndexView } from './workspace-index.ts'

/** A term of a question with what the workspace says about it. */
export interface QueryTerm {
  hash: number
  /** `part` of an identifier or a word, `whole` identifier, or a `synonym` of a word that was asked */
  kind: 'part' | 'whole' | 'synonym'
  /** how often the question has it */
  count: number
  /** rarity in the workspace: ln(1 + (N - n + ½) / (n + ½)), BM25's inverse document frequency */
  idf: number
}

export interface AnalysedQuery {
  terms: readonly QueryTerm[]
  /** weight of the question's words that the workspace does not have at all */
  unknown: number
  intent: Intent
}

/** Distinct terms of a question that are looked up; the rest of a pasted file adds nothing but time. */
const maxTerms = 64

/** Terms of a question, rarest first, with what else its words may be called. */
export function analyseQuery(question: string, view: IndexView, thesaurus: Thesaurus): AnalysedQuery {
  const counts = countTerms(question)
  const asked = [...counts].map(([term, count]): QueryTerm => {
    const hash = termHash(term)
    const kind = term.startsWith('=') ? 'whole' : 'part'
    return { hash, kind, count, idf: inverseFrequency(view, hash) }
  })
  const compounds = compoundsOf(question)
  const known = [...counts.keys(), ...compounds]
  const synonyms = new Set([...compounds, ...known.flatMap((term) => [...thesaurus.synonymsOf(term)])])
  const added = [...synonyms].flatMap((synonym): QueryTerm[] => {
    const hash = termHash(synonym)
    return counts.has(synonym) ? [] : [{ hash, kind: 'synonym', count: 1, idf: inverseFrequency(view, hash) }]
  })
  const missing = asked.filter(({ idf, kind }) => idf === 0 && kind === 'part').length
  return {
    terms: [...rarest(asked), ...rarest(added)],
    unknown: missing * Math.log(1 + view.liveChunks),
    intent: intentOf(question),
  }
}

/** `e-mail`, `round-robin`: in code they are one word (`email`) or one identifier (`roundRobin`). */
function compoundsOf(question: string): string[] {
  return [...question.toLowerCase().matchAll(/\p{L}+(?:-\p{L}+)+/gu)].flatMap(([compound]) => {
    const whole = compound.replaceAll('-', '')
    return [lightStem(whole), `=${whole}`]
  })
}

function rarest(terms: readonly QueryTerm[]): QueryTerm[] {
  return terms
    .filter(({ idf }) => idf > 0)
    .toSorted((left, right) => right.idf - left.idf)
    .slice(0, maxTerms)
}

/** 0 for a term that the workspace does not have. */
function inverseFrequency(view: IndexView, hash: number): number {
  let found = 0
  for (const { segment } of view.segments) {
    const [from, to] = postingsOf(segment, hash)
    found += to - from
  }
  if (found === 0 && !view.pathPostings.has(hash)) return 0
  return Math.log(1 + Math.max(0, view.liveChunks - found + 0.5) / (found + 0.5))
}

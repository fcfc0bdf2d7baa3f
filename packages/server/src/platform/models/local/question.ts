import { significantWords, stem } from './words.ts'

/**
 * What a person wants, as far as words tell:
 * - `talk`: a greeting, thanks, or what this assistant can do
 * - `overview`: what the whole is
 * - `locate`: where something is
 * - `list`: which things there are
 * - `change`: new or other code
 * - `explain`: everything else
 */
export type Intent = 'talk' | 'overview' | 'locate' | 'list' | 'change' | 'explain'

export interface Question {
  intent: Intent
  /** stems, each once */
  terms: string[]
  /** the word that each stem was in the question */
  words: ReadonlyMap<string, string>
  /** names as code spells them: `createPool`, `retry-after.ts`, `HTTP_PORT` */
  names: string[]
}

/** A follow-up such as "and where is it called?" takes its subject from the question before. */
export function understand(text: string, earlier: readonly string[]): Question {
  const names = namesIn(text)
  const words = significantWords(text)
  const intent = intentOf(text, words)
  const needsSubject = intent !== 'talk' && intent !== 'overview' && words.length <= 2 && names.length === 0
  const before = needsSubject ? earlier.find((question) => significantWords(question).length > 0) : undefined
  const subject = before === undefined ? [] : significantWords(before)
  const byStem = new Map([...words, ...subject].map((word) => [stem(word), word]))
  return {
    intent,
    terms: [...byStem.keys()],
    words: byStem,
    names: before === undefined ? names : [...names, ...namesIn(before)],
  }
}

function intentOf(text: string, words: readonly string[]): Intent {
  const plain = text.toLowerCase().trim()
  if (isTalk(plain)) return 'talk'
  if (
    /\b(what (is|does) (this|the) (project|repo|repository|codebase|app|application|package|library|workspace)|overview|summar|readme|getting started)/.test(
      plain,
    )
  ) {
    return 'overview'
  }
  if (
    /^(please )?(write|generate|implement|create|add|refactor|rewrite|rename|fix|convert|translate|optimi[sz]e|make|build)\b/.test(
      plain,
    )
  )
    return 'change'
  if (
    /^(can|could|would) you (please )?(write|generate|implement|create|add|refactor|rewrite|fix|convert|change|make|build)\b/.test(
      plain,
    )
  )
    return 'change'
  if (/\b(where|which file|who calls|callers?|usages?|find|locate|defined|declared)\b/.test(plain))
    return 'locate'
  if (
    /\b(list|which|what) (all |are |the |of )*(\w+ ){0,2}(functions?|methods?|classes|types|interfaces|exports?|endpoints?|routes?|commands?|options?|errors?|tables?)\b/.test(
      plain,
    )
  )
    return 'list'
  return words.length === 0 ? 'overview' : 'explain'
}

function isTalk(plain: string): boolean {
  return (
    /^(hi|hello|hey|hallo|good (morning|afternoon|evening)|thanks?( you)?|thank you|ok(ay)?|bye|test|ping)\b[\s\p{P}]*(there|atelier|everyone|very much|so much|all)?[\s\p{P}]*$/u.test(
      plain,
    ) ||
    /^(who|what) are you\b|what can you do|how can you help|^help[\s\p{P}]*$|how are you|your name|tell me a joke/u.test(
      plain,
    )
  )
}

function namesIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]{2,80})`/g)].map((match) => match[1] ?? '')
  const shaped = [...text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*(?:[.:#/-]+[\p{L}\p{N}_$]+)*/gu)]
    .map((match) => match[0])
    .filter((word) => looksLikeCode(word))
  return [...new Set([...quoted, ...shaped].map((name) => name.replace(/\(.*$/, '')))]
}

function looksLikeCode(word: string): boolean {
  return /\p{Ll}\p{Lu}|_|\$|\w\.[a-z]{1,5}$|::|\w\/\w|^\p{Lu}\p{Ll}+\p{Lu}|^\p{Lu}[\p{Lu}\p{N}_]{2,}$/u.test(
    word,
  )
}

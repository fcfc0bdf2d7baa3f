import { lightStem } from './light-stem.ts'

/** Words that carry no meaning in a question about code, and keywords that nearly every file has. */
// biome-ignore format: a table
const stopWords: ReadonlySet<string> = new Set([
  'a', 'an', 'and', 'are', 'as', 'at', 'be', 'been', 'being', 'but', 'by', 'can', 'could', 'did', 'do', 'does', 'doing', 'for', 'from', 'had', 'has',
  'have', 'he', 'her', 'his', 'how', 'i', 'if', 'in', 'into', 'is', 'it', 'its', 'just', 'me', 'my', 'of', 'on', 'or', 'our', 'she', 'should', 'so',
  'some', 'such', 'than', 'that', 'the', 'their', 'them', 'then', 'there', 'these', 'they', 'this', 'those', 'to', 'too', 'us', 'was', 'we', 'were',
  'what', 'when', 'where', 'which', 'while', 'who', 'whom', 'why', 'will', 'with', 'would', 'you', 'your',
  'const', 'let', 'var', 'return', 'function', 'def', 'func', 'fn', 'else', 'elif', 'export', 'import', 'require', 'void', 'self',
])

/** Longest run of word characters that is read as an identifier; longer ones are encoded data. */
const maxIdentifier = 64
/** Script without spaces between words: two-letter windows stand in for words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/**
 * Calls `emit` for every term of a text or a question: the stems of the parts of each identifier and, when it has more than
 * one part, the whole identifier, so that `parseRetryAfter` is found by `retry`, `parsing` and `parseretryafter`.
 */
export function forEachTerm(text: string, emit: (term: string) => void): void {
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}_$]+/gu)) {
    const identifier = match[0]
    if (identifier.length <= maxIdentifier) emitIdentifier(identifier, emit)
  }
}

function emitIdentifier(identifier: string, emit: (term: string) => void): void {
  if (!/^\w+$/.test(identifier) && unspaced.test(identifier)) {
    emitBigrams(identifier, emit)
    return
  }
  const parts = identifierParts(identifier)
  let whole = ''
  for (const part of parts) {
    whole += part
    if (!stopWords.has(part)) emit(lightStem(part))
  }
  // The mark keeps a whole identifier apart from a word that happens to have the same letters.
  if (parts.length > 1) emit(`=${whole}`)
}

function emitBigrams(text: string, emit: (term: string) => void): void {
  const letters = [...text.toLowerCase()]
  if (letters.length === 1) emit(letters[0] ?? '')
  for (let at = 0; at + 1 < letters.length; at += 1) emit(`${letters[at]}${letters[at + 1]}`)
}

/** `parseHTTPHeader2_fast` -> `parse`, `http`, `header`, `2`, `fast`; lower case, accents removed. */
export function identifierParts(identifier: string): string[] {
  // Most identifiers are lower-case words, which need no cutting.
  if (/^[a-z]+$/.test(identifier)) return [identifier]
  const parts = identifier
    .replace(/(\p{Ll}|\p{N})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1$3 $2$4')
    .replace(/(\p{L}{2})(\p{N})|(\p{N})(\p{L}{2})/gu, '$1$3 $2$4')
    .toLowerCase()
    .split(/[\s_$]+/)
    .filter((part) => part !== '')
  return /^\p{ASCII}*$/u.test(identifier)
    ? parts
    : parts.map((part) => part.normalize('NFKD').replace(/\p{M}/gu, ''))
}

/** Terms with how often each occurs. */
export function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  forEachTerm(text, (term) => counts.set(term, (counts.get(term) ?? 0) + 1))
  return counts
}

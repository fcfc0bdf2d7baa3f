// biome-ignore format: a table
const stopWords: ReadonlySet<string> = new Set([
  'a', 'about', 'all', 'an', 'and', 'any', 'are', 'as', 'at', 'be', 'been', 'but', 'by', 'can', 'code', 'could', 'did', 'do', 'does', 'done', 'exactly', 'explain', 'file',
  'find', 'for', 'from', 'get', 'give', 'had', 'has', 'have', 'how', 'i', 'if', 'in', 'into', 'is', 'it', 'its', 'just', 'like', 'list', 'me', 'my', 'of', 'on', 'one', 'or',
  'our', 'please', 'project', 'repository', 'repo', 'should', 'show', 'so', 'some', 'tell', 'than', 'that', 'the', 'their', 'them', 'then', 'there', 'these', 'they', 'this', 'those', 'to', 'use', 'used',
  'uses', 'using', 'want', 'was', 'way', 'we', 'were', 'what', 'when', 'where', 'which', 'who', 'why', 'will', 'with', 'work', 'works', 'would', 'you', 'your',
])

/** `parseHTTPHeader_fast` -> `parse`, `http`, `header`, `fast`. */
export function partsOf(identifier: string): string[] {
  return identifier
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[\s_$]+/)
    .filter((part) => part !== '')
}

/** Brings the commonest forms of a word together: `retries`, `retried`, `retrying` -> `retr`. Only compared with itself. */
export function stem(word: string): string {
  if (word.length < 4) return word
  return word
    .replace(/(ies|ied|ying)$/, 'y')
    .replace(/(ations?|ators?|ings?|ers?|ed|es|s)$/, (suffix) =>
      word.length - suffix.length >= 3 ? '' : suffix,
    )
    .replace(/([^aeioulsz])\1$/, '$1')
    .replace(/[ey]$/, '')
}

/** Stems of all words and parts of identifiers in a text. */
export function stemsOf(text: string): Set<string> {
  const stems = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}_$]+/gu)) {
    for (const part of partsOf(word)) stems.add(stem(part))
  }
  return stems
}

/** Words of a question that say what it is about; stop words are left out. */
export function significantWords(text: string): string[] {
  return [...text.matchAll(/[\p{L}\p{N}_$]+/gu)]
    .flatMap(([word]) => partsOf(word))
    .filter((word) => !stopWords.has(word) && (word.length > 1 || /\p{N}/u.test(word)))
}

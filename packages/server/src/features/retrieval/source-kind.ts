import { languageKind } from './language.ts'

/** What a file is to somebody who asks. */
export type SourceKind = 'code' | 'built' | 'test' | 'example' | 'declaration' | 'prose' | 'data'

export function sourceKind(path: string, language: string | null): SourceKind {
  const kind = languageKind(language)
  if (kind !== 'code') return kind
  // A package may be nothing but its build; beside the sources, these are what is meant.
  if (/(^|\/)dist\//.test(path)) return 'built'
  if (/(^|\/)(tests?|__tests__|__mocks__|specs?|e2e|fixtures?|testdata)\//i.test(path)) return 'test'
  if (/(\.|_|-)(test|spec|e2e|bench)\.\w+$|(^|\/)(test_[^/]*|conftest)\.py$/i.test(path)) return 'test'
  if (/(^|\/)(examples?|demos?|benchmarks?|bench|samples?)\//i.test(path)) return 'example'
  return /\.d\.[mc]?ts$/.test(path) ? 'declaration' : 'code'
}

/**
 * Scripts that a compiler wrote beside their declarations, from a TypeScript source of the same name that is here too:
 * `core/schemas.js` and `core/schemas.d.ts` where there is `src/core/schemas.ts`.
 */
export function compiledPaths(paths: readonly string[]): ReadonlySet<string> {
  const declared = new Set<string>()
  const sources = new Set<string>()
  for (const path of paths) {
    const declaration = /^(.*)\.d\.([mc]?)ts$/.exec(path)
    if (declaration) declared.add(`${declaration[1]}.${declaration[2]}js`)
    else if (/\.[mc]?tsx?$/.test(path)) sources.add(stemOf(path))
  }
  return new Set(paths.filter((path) => declared.has(path) && sources.has(stemOf(path))))
}

/** Name of the file and of its folder, without its ending. */
function stemOf(path: string): string {
  return path
    .split('/')
    .slice(-2)
    .join('/')
    .replace(/\.\w+$/, '')
}

/** What a question is after. */
export type Intent = 'code' | 'prose' | 'test'

const proseWords =
  /\b(docs?|documentation|documented|readme|guides?|tutorials?|changelog|release notes|licen[cs]es?|install(ation|ing)?|getting started|contribut(e|ing|ors?))\b/i
const testWords = /\b(tests?|tested|specs?|fixtures?|test cases?)\b/i

export function intentOf(question: string): Intent {
  if (testWords.test(question)) return 'test'
  return proseWords.test(question) ? 'prose' : 'code'
}

/** Factor on the scores of every leg. A question about code prefers where things are defined; others are still found. */
const factors: Readonly<Record<Intent, Readonly<Record<SourceKind, number>>>> = {
  code: { code: 1, built: 0.5, declaration: 0.8, example: 0.65, test: 0.6, prose: 0.65, data: 0.6 },
  prose: { code: 0.7, built: 0.4, declaration: 0.6, example: 0.7, test: 0.5, prose: 1, data: 0.6 },
  test: { code: 0.8, built: 0.4, declaration: 0.6, example: 0.7, test: 1, prose: 0.6, data: 0.6 },
}

export function kindFactor(intent: Intent, kind: SourceKind): number {
  return factors[intent][kind]
}

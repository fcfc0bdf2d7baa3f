import { existsSync } from 'node:fs'
import type { Grammars } from '../../packages/server/src/features/retrieval/grammars.ts'
import { languageOf } from '../../packages/server/src/features/retrieval/language.ts'
import { termHash } from '../../packages/server/src/features/retrieval/term-hash.ts'
import { filesOf, packageFiles, type SourceText } from './corpus.ts'
import { stripDocstrings } from './docstring-pairs.ts'
import type { WrittenQuestion } from './questions.ts'

/** A line that answers a question; `*`: any line of the file. */
export interface Answer {
  path: string
  line: number | '*'
}

/** Files to index and questions about them, each with the lines that answer it: two definitions may say the same of themselves. */
export interface QuestionSet {
  name: string
  files: SourceText[]
  questions: { question: string; answers: Answer[] }[]
}

/** Packages whose docstrings weights were chosen on. */
export const tuningSources = [
  'ai',
  '@ai-sdk/provider-utils',
  '@ai-sdk/openai',
  '@ai-sdk/google',
  'mongodb',
  'bson',
  '@better-auth/core',
]
/** Packages that nothing was chosen on. */
export const heldOutSources = [
  'zod',
  'undici',
  '@xterm/xterm',
  '@grpc/grpc-js',
  '@tanstack/query-core',
  'ws',
  'kysely',
]

const built = /(^|\/)(cjs|build|umd|lib-headless)\/|\.d\.[mc]?ts$/
const tests = /\.(test|spec)\.|(^|\/)(tests?|__tests__|fixtures)\//

/** Docstring -> definition over the sources of packages, in one workspace; at most `limit` questions. */
export async function docstringSet(
  packages: readonly string[],
  grammars: Grammars,
  limit = 1_500,
): Promise<QuestionSet> {
  const files = packages.flatMap((name) =>
    packageFiles(name, '**/*.{ts,tsx,js,mjs}').filter((file) => isSource(name, file)),
  )
  return await docstringsOf('docstrings', files, grammars, limit)
}

/** The standard library of the machine's Python, where there is one: another language, which nothing was chosen on. */
export async function pythonSet(grammars: Grammars, limit = 1_500): Promise<QuestionSet | null> {
  const folder = ['3.14', '3.13', '3.12', '3.11', '3.10']
    .map((version) => `/usr/lib/python${version}`)
    .find(existsSync)
  if (folder === undefined) return null
  const files = filesOf(folder, 'python', '**/*.py').filter(
    ({ path }) => !tests.test(path) && !path.includes('idle_test'),
  )
  return await docstringsOf('docstrings-python', files, grammars, limit)
}

function isSource(name: string, { path }: SourceText): boolean {
  if (built.test(path) || tests.test(path)) return false
  const hasSources = ['ai', 'mongodb', 'bson', 'zod'].includes(name) || name.startsWith('@')
  return !hasSources || path.startsWith(`${name}/src/`)
}

async function docstringsOf(
  name: string,
  files: readonly SourceText[],
  grammars: Grammars,
  limit: number,
): Promise<QuestionSet> {
  const stripped: SourceText[] = []
  const questions = new Map<string, QuestionSet['questions'][number]>()
  for (const { path, text } of files) {
    const parser = await grammars.parserFor(languageOf(path, text))
    if (parser === null) continue
    const file = stripDocstrings(parser, path, text)
    stripped.push({ path, text: file.text })
    for (const { question, line } of file.pairs) {
      const answers = questions.get(question)?.answers ?? []
      questions.set(question, { question, answers: [...answers, { path, line }] })
    }
  }
  // An order that depends on nothing but the question, so that the sample is the same everywhere.
  const sample = [...questions.values()].toSorted(
    (left, right) => termHash(left.question) - termHash(right.question),
  )
  return { name, files: stripped, questions: sample.slice(0, limit) }
}

/** Hand-written questions, a workspace a package, with everything the package ships: tests and documentation too. */
export function writtenSets(packages: readonly string[], written: readonly WrittenQuestion[]): QuestionSet[] {
  return packages.map((name) => {
    const files = packageFiles(name).filter(({ path }) => !isBuildOf(name, path))
    const texts = new Map(files.map(({ path, text }) => [path, text]))
    const own = written.filter(({ path }) => texts.has(path) && path.startsWith(`${name}/`))
    const questions = own.map(({ question, path, anchor }) => {
      const line =
        (texts.get(path) ?? '').split('\n').findIndex((candidate) => candidate.includes(anchor)) + 1
      if (anchor !== '*' && line === 0) throw new Error(`${path} has no line with ${anchor}`)
      return { question, answers: [{ path, line: anchor === '*' ? ('*' as const) : line }] }
    })
    return { name: 'written', files, questions }
  })
}

/** Compiled copies of sources that the package ships as well would be a second, equally right answer. */
function isBuildOf(name: string, path: string): boolean {
  if (built.test(path)) return true
  const shipsSources = ['ai', 'mongodb', 'bson'].includes(name) || name.startsWith('@')
  return shipsSources && /^(dist|lib)\//.test(path.slice(name.length + 1))
}

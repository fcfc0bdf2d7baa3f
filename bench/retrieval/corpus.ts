import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { termsOfChunk } from '../../packages/server/src/features/retrieval/chunk-terms.ts'
import { chunkText } from '../../packages/server/src/features/retrieval/chunk-text.ts'
import { embeddingText } from '../../packages/server/src/features/retrieval/embedding-text.ts'
import type { Grammars } from '../../packages/server/src/features/retrieval/grammars.ts'
import {
  hashedDimensions,
  hashedVector,
} from '../../packages/server/src/features/retrieval/hashed-embedder.ts'
import { languageOf } from '../../packages/server/src/features/retrieval/language.ts'
import {
  skipByPath,
  skipBySize,
  skipByText,
} from '../../packages/server/src/features/retrieval/skip-reason.ts'
import {
  createWorkspaceIndex,
  type IndexView,
} from '../../packages/server/src/features/retrieval/workspace-index.ts'

export interface SourceText {
  path: string
  text: string
}

/** Files of an installed package that hold sources, in the order of their paths. */
export function packageFiles(name: string, pattern = '**/*.{ts,tsx,js,mjs,cjs,py,md}'): SourceText[] {
  return filesOf(packageFolder(name), name, pattern)
}

function packageFolder(name: string): string {
  const folder = join(import.meta.dirname, '../../node_modules', name)
  return existsSync(folder) ? folder : dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
}

export function filesOf(folder: string, prefix: string, pattern: string): SourceText[] {
  const paths = globSync(pattern, { cwd: folder, exclude: ['**/node_modules/**'] }).toSorted()
  return paths.flatMap((path) => {
    const bytes = readFileSync(join(folder, path))
    // Published packages have their sources where a repository would have its build, so `dist` is looked into here.
    const skipped = skipByPath(path.replaceAll(/(^|\/)dist\//g, '$1')) ?? skipBySize(bytes.length)
    const text = bytes.toString('utf8')
    return skipped !== null || skipByText(text) !== null ? [] : [{ path: `${prefix}/${path}`, text }]
  })
}

export interface CorpusChunk {
  path: string
  startLine: number
  endLine: number
  content: string
  symbols: readonly string[]
  header: string
}

export interface Corpus {
  chunks: CorpusChunk[]
  view: IndexView
  /** chunk of the corpus for a chunk number of the index */
  chunkOf(item: number): number
}

/** Cuts and indexes files as the server does, without a database. */
export async function buildCorpus(files: readonly SourceText[], grammars: Grammars): Promise<Corpus> {
  const index = createWorkspaceIndex({ dimensions: hashedDimensions })
  const chunks: CorpusChunk[] = []
  const documents = files.map(({ path, text }, at) => ({
    id: `${at}`,
    path,
    language: languageOf(path, text),
    contentId: at,
    contentSha256: '',
  }))
  index.setDocuments(documents)
  for (const [at, { path, text }] of files.entries()) {
    const cut = (await chunkText({ text, language: documents[at]?.language ?? null }, grammars)).chunks
    index.addChunks(
      cut.map((chunk, ordinal) => ({
        chunkId: chunks.length + ordinal,
        contentId: at,
        terms: termsOfChunk(chunk),
        vector: hashedVector(embeddingText(chunk)),
      })),
    )
    chunks.push(...cut.map((chunk) => ({ path, ...chunk })))
    if (at % 200 === 199) index.publish()
  }
  index.publish()
  const view = index.view()
  return {
    chunks,
    view,
    chunkOf(item) {
      const place = view.segments.findLast(({ base }) => base <= item)
      return place?.segment.chunkIds[item - place.base] ?? -1
    },
  }
}

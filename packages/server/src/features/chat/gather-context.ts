import type { RagContext } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { ContextSource, FileSource, Passage, WorkspaceFile } from './workspace-context.ts'

export type RagStatus = 'active' | 'inactive' | 'unavailable'

/** What the workspace has to say about a question. */
export interface GatheredContext {
  retrieval: { status: 'found' | 'nothing' | 'unavailable'; relevanceScore: RagContext['relevanceScore'] }
  passages: readonly Passage[]
  /** files the person named, whole, in passages */
  files: readonly Passage[]
  missingFiles: readonly string[]
}

export const noContext: GatheredContext = Object.freeze({
  retrieval: { status: 'nothing' as const, relevanceScore: null },
  passages: [],
  files: [],
  missingFiles: [],
})

/** Longest wait for retrieval, in milliseconds: it takes some ten; an answer without it is better than none. */
const retrievalMilliseconds = 10_000

/** Lines of a passage of a named file: fine enough to fit a part of a large file. */
const linesPerPassage = 100

/** Looks for passages and reads the named files. A failing retrieval is logged and reported, not thrown. */
export async function gatherContext(options: {
  scope: WorkspaceScope
  question: string
  budgetTokens: number
  names: readonly string[]
  retrieval: ContextSource
  files: FileSource
  logger: { error(fields: object, message: string): void }
  requestId: string
}): Promise<GatheredContext> {
  const { scope, names, files } = options
  const [found, named] = await Promise.all([
    retrieve(options),
    Promise.all(
      distinctNames(names).map(async (name) => ({ name, file: await files.readText(scope, name) })),
    ),
  ])
  return {
    ...found,
    files: named.flatMap(({ file }) => (file === null ? [] : toPassages(file))),
    missingFiles: named.filter(({ file }) => file === null).map(({ name }) => name),
  }
}

type Retrieved = Pick<GatheredContext, 'retrieval' | 'passages'>

async function retrieve(options: Parameters<typeof gatherContext>[0]): Promise<Retrieved> {
  const { scope, question, budgetTokens, retrieval, logger, requestId } = options
  try {
    const { passages, relevanceScore } = await inTime(retrieval.contextFor(scope, question, budgetTokens))
    const status = passages.length > 0 ? 'found' : 'nothing'
    return { retrieval: { status, relevanceScore }, passages }
  } catch (error) {
    logger.error({ requestId, workspaceId: scope.workspaceId, err: error }, 'retrieval failed')
    return { retrieval: { status: 'unavailable', relevanceScore: null }, passages: [] }
  }
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new AppError('TIMEOUT', 'Retrieval takes too long')),
      retrievalMilliseconds,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** `./src/a.ts` and `src/a.ts` are one file. */
function distinctNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.replace(/^(\.?\/)+/, '')).filter((name) => name !== ''))]
}

function toPassages({ path, content, language, contentSha256 }: WorkspaceFile): Passage[] {
  const lines = content.replace(/\r?\n$/, '').split('\n')
  const passages: Passage[] = []
  for (let start = 0; start < lines.length; start += linesPerPassage) {
    const part = lines.slice(start, start + linesPerPassage)
    passages.push({
      path,
      startLine: start + 1,
      endLine: start + part.length,
      content: part.join('\n'),
      language,
      contentSha256,
    })
  }
  return passages
}

/** What `X-RAG-Status` says, once it is known what went into the prompt. */
export function ragStatusOf(context: GatheredContext, used: readonly Passage[]): RagStatus {
  if (used.length > 0) return 'active'
  return context.retrieval.status === 'unavailable' ? 'unavailable' : 'inactive'
}

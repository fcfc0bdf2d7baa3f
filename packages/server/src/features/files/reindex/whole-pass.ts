import type { IngestedFile, IngestTotals } from '@atelier/contract'
import { type IndexRun, indexFiles, removeDocuments } from './apply-changes.ts'
import { listFiles } from './observe-paths.ts'

/**
 * Files of one workspace that are kept in search. A directory that holds more is listed up to here; the rest is not
 * found, and documents of what was not listed stay.
 */
export const maxIndexedFiles = 100_000

const documentsPerPage = 5_000

export interface WholePassOptions {
  onProgress?(progress: { done: number }): void
  /** what search made of the new files of one page */
  onIndexed?(result: { files: readonly IngestedFile[]; totals: IngestTotals }): void
}

export interface WholePassResult {
  /** files looked at */
  files: number
  /** files whose content was new to search */
  indexed: number
  removed: number
  /** false: there are more files than are kept in search */
  complete: boolean
}

/**
 * Compares the whole directory with the documents, a page at a time, and makes them alike. In memory are the paths and
 * digests of the documents and one page of the listing.
 */
export async function wholePass(run: IndexRun, options: WholePassOptions = {}): Promise<WholePassResult> {
  const left = await storedDigests(run)
  const result: WholePassResult = { files: 0, indexed: 0, removed: 0, complete: true }
  for await (const page of listFiles(run.client, '', run.signal)) {
    run.signal.throwIfAborted()
    const news = page.filter(({ path, revision }) => left.get(path) !== revision)
    for (const { path } of page) left.delete(path)
    const before = result.indexed
    const ingested = await indexFiles(run, news, ({ done }) => options.onProgress?.({ done: before + done }))
    if (ingested) options.onIndexed?.(ingested)
    result.files += page.length
    result.indexed += news.length
    if (result.files >= maxIndexedFiles) return { ...result, complete: false }
  }
  const gone = [...left.keys()]
  await removeDocuments(run, gone)
  return { ...result, removed: gone.length }
}

async function storedDigests({ documents, scope, signal }: IndexRun): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  let after = ''
  for (;;) {
    signal.throwIfAborted()
    const page = await documents.list(scope, { limit: documentsPerPage, after })
    for (const { path, contentSha256 } of page) digests.set(path, contentSha256)
    const last = page.at(-1)
    if (last === undefined || page.length < documentsPerPage) return digests
    after = last.path
  }
}

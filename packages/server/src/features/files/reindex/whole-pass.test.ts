import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { expect, it } from 'vitest'
import { grantWorkspaceScope } from '../../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../../platform/runtime/agent-client.ts'
import type { IndexedDocument, SearchDocuments } from './search-documents.ts'
import { maxIndexedFiles, wholePass } from './whole-pass.ts'

const filesPerPage = 5_000

/** An agent whose directory has so many files: only its listing is asked for. */
function agentWith(count: number): Pick<AgentClient, 'call'> {
  const list = ({ after }: AgentParams<'files.list'>): AgentResult<'files.list'> => {
    const from = after === undefined ? 0 : Number(after.slice(1)) + 1
    const size = Math.min(filesPerPage, count - from)
    const entries = Array.from({ length: size }, (_, at) => ({
      path: `f${from + at}`,
      type: 'file' as const,
      size: 1,
      modifiedAt: 0,
      executable: false,
      revision: 'a'.repeat(64),
    }))
    return { entries, next: from + size < count ? `f${from + size - 1}` : null }
  }
  return {
    call: async (_name: string, params: unknown) => list(params as AgentParams<'files.list'>),
  } as never
}

/** Search that keeps no text: what is ingested is only counted. */
function documentsWith(stored: IndexedDocument[]): SearchDocuments & { removed: string[] } {
  const removed: string[] = []
  return {
    removed,
    readsContent: () => false,
    async ingest(_scope, files) {
      let count = 0
      for await (const _ of files) count += 1
      return {
        files: [],
        totals: { files: count, indexed: count, skipped: 0, failed: 0, bytes: 0, chunks: 0 },
      }
    },
    rename: async () => false,
    removeAll: async (_scope, paths) => removed.push(...paths),
    list: async (_scope, { after }) => (after === '' ? stored : []),
    at: async () => [],
    below: async () => [],
  }
}

const scope = grantWorkspaceScope({ workspaceId: 'ws_test', userId: null, role: 'owner' })
const pass = (count: number, documents: SearchDocuments) =>
  wholePass({
    scope,
    client: agentWith(count) as AgentClient,
    documents,
    signal: new AbortController().signal,
  })

it('[IDX10] beyond 100,000 files nothing more is listed, and what was not looked at stays', async () => {
  const documents = documentsWith([{ path: 'f150000', contentSha256: 'b' }])
  expect(await pass(200_000, documents)).toEqual({
    files: maxIndexedFiles,
    indexed: maxIndexedFiles,
    removed: 0,
    complete: false,
  })
  expect(documents.removed).toEqual([])
})

it('[IDX5] what is as it was is not read, what is gone is removed', async () => {
  const documents = documentsWith([
    { path: 'f1', contentSha256: 'a'.repeat(64) },
    { path: 'gone', contentSha256: 'b' },
  ])
  expect(await pass(7_000, documents)).toEqual({ files: 7_000, indexed: 6_999, removed: 1, complete: true })
  expect(documents.removed).toEqual(['gone'])
})

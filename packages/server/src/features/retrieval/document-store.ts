import { sql } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { VectorSpace } from './retrieval-store.ts'

/** A file as it was handed in. */
export interface DocumentEntry {
  id: string
  path: string
  bytes: number
  language: string | null
  status: 'indexed' | 'skipped' | 'failed'
  reason: string | null
  contentSha256: string
  updatedAt: Date
}

export interface DocumentText extends DocumentEntry {
  /** null: its text is not kept */
  content: string | null
}

/** Reads documents and the state of the index. */
export function createDocumentStore({ database }: { database: Database }) {
  return {
    /** Documents in the order of their paths; only those below `folder` unless it is ''. */
    list: (
      scope: WorkspaceScope,
      options: { folder: string; limit: number; after: string },
    ): Promise<DocumentEntry[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(['id', 'path', 'bytes', 'language', 'status', 'reason', 'content_sha256', 'updated_at'])
          .where(sql<boolean>`starts_with(path, ${options.folder === '' ? '' : `${options.folder}/`})`)
          // Byte order on both engines, whatever the collation of the server.
          .where(sql<boolean>`path collate "C" > ${options.after}`)
          .orderBy(sql`path collate "C"`)
          .limit(options.limit)
          .execute()
        return rows.map(toEntry)
      }),

    read: (scope: WorkspaceScope, path: string): Promise<DocumentText | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('documents as document')
          .leftJoin('contents as content', 'content.id', 'document.content_id')
          .select(['document.id', 'document.path', 'document.bytes', 'document.language', 'document.status'])
          .select(['document.reason', 'document.content_sha256', 'document.updated_at', 'content.text'])
          .where('document.path', '=', path)
          .executeTakeFirst()
        return row === undefined ? null : { ...toEntry(row), content: row.text }
      }),

    /** Paths alone, of all documents. */
    paths: (scope: WorkspaceScope): Promise<string[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction.selectFrom('documents').select('path').execute()
        return rows.map(({ path }) => path)
      }),

    state: (scope: WorkspaceScope, space: VectorSpace) =>
      database.inWorkspace(scope, async (transaction) => {
        const statuses = await transaction
          .selectFrom('documents')
          .select(['status', 'reason'])
          .select((row) => row.fn.countAll<number>().as('files'))
          .where('status', '!=', 'failed')
          .groupBy(['status', 'reason'])
          .execute()
        const { rows } = await sql<{
          chunks: number
          vectors: number
          failed: number
          updatedAt: Date | null
        }>`
          select (select count(*) from chunks) as chunks,
            (select count(*) from chunk_vectors where model = ${space.model} and dimensions = ${space.dimensions})
              as vectors,
            (select count(*) from documents where status = 'failed') as failed,
            (select updated_at from retrieval_indexes) as "updatedAt"`.execute(transaction)
        return { statuses, ...(rows[0] ?? { chunks: 0, vectors: 0, failed: 0, updatedAt: null }) }
      }),
  }
}

export type DocumentStore = ReturnType<typeof createDocumentStore>

function toEntry(row: {
  id: string
  path: string
  bytes: number
  language: string | null
  status: DocumentEntry['status']
  reason: string | null
  content_sha256: string
  updated_at: Date
}): DocumentEntry {
  const { id, path, bytes, language, status, reason } = row
  return {
    id,
    path,
    bytes,
    language,
    status,
    reason,
    contentSha256: row.content_sha256,
    updatedAt: row.updated_at,
  }
}

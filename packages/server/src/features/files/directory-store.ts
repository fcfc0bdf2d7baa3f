import { sql } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { IndexedDocument } from './reindex/search-documents.ts'

/** A document whose text is kept. */
export interface StoredText {
  path: string
  text: string
}

/** What is known of the directory of a workspace: where it is, and which documents mirror it. */
export function createDirectoryStore({ database }: { database: Database }) {
  return {
    /** The node that holds the directory, `null` where none was made. */
    node: (scope: WorkspaceScope): Promise<string | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('workspaces')
          .select('directory_node')
          .where('id', '=', scope.workspaceId)
          .executeTakeFirst()
        return row?.directory_node ?? null
      }),

    setNode: (scope: WorkspaceScope, node: string): Promise<void> =>
      database.inWorkspace(scope, async (transaction) => {
        await transaction
          .updateTable('workspaces')
          .set({ directory_node: node })
          .where('id', '=', scope.workspaceId)
          .execute()
      }),

    /** Documents whose text is kept, in the byte order of paths, after `after`. */
    texts: (scope: WorkspaceScope, options: { limit: number; after: string }): Promise<StoredText[]> =>
      database.inWorkspace(scope, (transaction) =>
        transaction
          .selectFrom('documents as document')
          .innerJoin('contents as content', 'content.id', 'document.content_id')
          .select(['document.path', 'content.text'])
          .where('document.workspace_id', '=', scope.workspaceId)
          .where(sql<boolean>`document.path collate "C" > ${options.after}`)
          .orderBy(sql`document.path collate "C"`)
          .limit(options.limit)
          .execute(),
      ),

    /** All documents, in the byte order of paths, after `after`. */
    documents: (
      scope: WorkspaceScope,
      options: { limit: number; after: string },
    ): Promise<IndexedDocument[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(['path', 'content_sha256'])
          .where('workspace_id', '=', scope.workspaceId)
          .where(sql<boolean>`path collate "C" > ${options.after}`)
          .orderBy(sql`path collate "C"`)
          .limit(options.limit)
          .execute()
        return rows.map(toDocument)
      }),

    documentsAt: (scope: WorkspaceScope, paths: readonly string[]): Promise<IndexedDocument[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(['path', 'content_sha256'])
          .where('workspace_id', '=', scope.workspaceId)
          .where('path', '=', sql<string>`any(${[...paths]}::text[])`)
          .execute()
        return rows.map(toDocument)
      }),

    /** One look into the index for each folder: `0` is the character after `/`. */
    documentsBelow: (scope: WorkspaceScope, folders: readonly string[]): Promise<IndexedDocument[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const { rows } = await sql<{ path: string; content_sha256: string }>`
          select distinct document.path, document.content_sha256
          from unnest(${[...folders]}::text[]) as folder
          cross join lateral (
            select path, content_sha256 from documents
            where workspace_id = ${scope.workspaceId}
              and path collate "C" > folder || '/' and path collate "C" < folder || '0'
          ) as document`.execute(transaction)
        return rows.map(toDocument)
      }),
  }
}

export type DirectoryStore = ReturnType<typeof createDirectoryStore>

function toDocument(row: { path: string; content_sha256: string }): IndexedDocument {
  return { path: row.path, contentSha256: row.content_sha256 }
}

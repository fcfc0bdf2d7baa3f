import { sql } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'

/** A document without its content. */
export interface FileFacts {
  path: string
  revision: string
  bytes: number
  language: string | null
  status: 'indexed' | 'skipped' | 'failed'
  reason: string | null
  modifiedAt: Date
  /** `null`: no text of it is kept */
  contentId: number | null
}

/** Documents as files of a tree. What is stored in them is the business of retrieval; this only reads. */
export function createFilesStore({ database }: { database: Database }) {
  return {
    find: (scope: WorkspaceScope, path: string): Promise<FileFacts | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('documents')
          .select(fileColumns)
          .where('workspace_id', '=', scope.workspaceId)
          .where('path', '=', path)
          .executeTakeFirst()
        return row ? toFacts(row) : null
      }),

    /** Those of `paths` that are documents. */
    findAll: (scope: WorkspaceScope, paths: readonly string[]): Promise<FileFacts[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(fileColumns)
          .where('workspace_id', '=', scope.workspaceId)
          .where('path', '=', sql<string>`any(${[...paths]}::text[])`)
          .execute()
        return rows.map(toFacts)
      }),

    /** The text of a file, `null` where it was replaced since. */
    text: (scope: WorkspaceScope, contentId: number): Promise<string | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('contents')
          .select('text')
          .where('workspace_id', '=', scope.workspaceId)
          .where('id', '=', contentId)
          .executeTakeFirst()
        return row?.text ?? null
      }),

    /**
     * What lies in a folder: the files at most `depth` levels under it, and the folders at that depth which hold more,
     * each in the order of their code points and at most `limit`. `prefix` is `''` or ends in `/`.
     */
    list: (
      scope: WorkspaceScope,
      { prefix, depth, limit }: { prefix: string; depth: number; limit: number },
    ): Promise<{ files: FileFacts[]; folders: string[] }> =>
      database.inWorkspace(scope, async (transaction) => {
        const segments = sql`string_to_array(substr(path, length(${prefix}::text) + 1), '/')`
        const inFolder = transaction
          .selectFrom('documents')
          .where('workspace_id', '=', scope.workspaceId)
          .where(sql<boolean>`starts_with(path, ${prefix})`)
        const files = await inFolder
          .select(fileColumns)
          .where(sql<boolean>`cardinality(${segments}) <= ${depth}`)
          .orderBy(sql`path collate "C"`)
          .limit(limit)
          .execute()
        const folders = await inFolder
          .select(sql<string>`array_to_string((${segments})[1:${sql.lit(depth)}], '/')`.as('folder'))
          .distinct()
          .where(sql<boolean>`cardinality(${segments}) > ${depth}`)
          .orderBy('folder')
          .limit(limit)
          .execute()
        return { files: files.map(toFacts), folders: folders.map(({ folder }) => prefix + folder) }
      }),

    /** Documents in a folder, or the one at `path`, that have a text in upper or lower case, by path. */
    containing: (
      scope: WorkspaceScope,
      asked: { path: string; prefix: string; text: string; after: string; limit: number },
    ): Promise<{ path: string; text: string }[]> =>
      database.inWorkspace(scope, (transaction) =>
        transaction
          .selectFrom('documents')
          .innerJoin('contents', 'contents.id', 'documents.content_id')
          .select(['documents.path', 'contents.text'])
          .where('documents.workspace_id', '=', scope.workspaceId)
          .where(sql<boolean>`(starts_with(path, ${asked.prefix}) or path = ${asked.path})`)
          .where(sql<boolean>`path collate "C" > ${asked.after}`)
          .where(sql<boolean>`position(lower(${asked.text}::text) in lower(text)) > 0`)
          .orderBy(sql`path collate "C"`)
          .limit(asked.limit)
          .execute(),
      ),

    /** Those of `paths` that are documents, one of them at most. */
    anyOf: (scope: WorkspaceScope, paths: readonly string[]): Promise<string | null> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('documents')
          .select('path')
          .where('workspace_id', '=', scope.workspaceId)
          .where('path', '=', sql<string>`any(${[...paths]}::text[])`)
          .limit(1)
          .executeTakeFirst()
        return row?.path ?? null
      }),

    /** The folders that hold a document directly. */
    parents: (scope: WorkspaceScope): Promise<string[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(sql<string>`regexp_replace(path, '/[^/]*$', '')`.as('folder'))
          .distinct()
          .where('workspace_id', '=', scope.workspaceId)
          .where('path', 'like', '%/%')
          .execute()
        return rows.map(({ folder }) => folder)
      }),
  }
}

export type FilesStore = ReturnType<typeof createFilesStore>

const fileColumns = [
  'path',
  'content_sha256',
  'bytes',
  'language',
  'status',
  'reason',
  'updated_at',
  'content_id',
] as const

function toFacts(row: {
  path: string
  content_sha256: string
  bytes: number
  language: string | null
  status: FileFacts['status']
  reason: string | null
  updated_at: Date
  content_id: number | null
}): FileFacts {
  const { path, bytes, language, status, reason } = row
  return {
    path,
    bytes,
    language,
    status,
    reason,
    revision: row.content_sha256,
    modifiedAt: row.updated_at,
    contentId: row.content_id,
  }
}

import { sql, type Transaction } from 'kysely'
import { newId } from '../../base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { contentKey } from './content-key.ts'
import { insertVectors, removeOrphans, writeContents } from './content-store.ts'
import type { IndexedChunk } from './indexing-messages.ts'

/** A space of vectors: those of different spaces are never compared. */
export interface VectorSpace {
  model: string
  dimensions: number
}

/** A file that has been read and judged, ready to be stored. */
export interface PreparedFile {
  path: string
  contentSha256: string
  bytes: number
  language: string | null
  status: 'indexed' | 'skipped' | 'failed'
  /** null exactly when `indexed` */
  reason: string | null
  /** null: the text is not kept, or is stored already */
  text: string | null
  /** of an `indexed` file whose content is not stored yet */
  chunks: readonly IndexedChunk[]
  /** one a chunk, or null when they could not be embedded */
  vectors: readonly Float32Array[] | null
}

export interface StoredDocument {
  id: string
  path: string
  contentSha256: string
  language: string | null
  status: 'indexed' | 'skipped' | 'failed'
  reason: string | null
}

export interface StoredContent {
  contentSha256: string
  language: string | null
  indexer: number
  chunks: number
}

/** What ingestion writes. The reading side is `resident-store.ts` and `document-store.ts`. */
export function createRetrievalStore({ database, indexer }: { database: Database; indexer: number }) {
  return {
    /** What is stored under these paths and of these contents. */
    existing: (scope: WorkspaceScope, files: readonly { path: string; contentSha256: string }[]) =>
      database.inWorkspace(scope, async (transaction) => ({
        documents: await findDocuments(
          transaction,
          files.map(({ path }) => path),
        ),
        contents: await findContents(
          transaction,
          files.map(({ contentSha256 }) => contentSha256),
        ),
      })),

    countChunks: (scope: WorkspaceScope): Promise<number> =>
      database.inWorkspace(scope, async (transaction) => {
        const row = await transaction
          .selectFrom('chunks')
          .select((counted) => counted.fn.countAll<number>().as('chunks'))
          .executeTakeFirstOrThrow()
        return row.chunks
      }),

    /** Stores files in one transaction; answers the document id and the chunks of each path. */
    write: (scope: WorkspaceScope, files: readonly PreparedFile[], space: VectorSpace) =>
      database.inWorkspace(scope, async (transaction) => {
        const version = await nextVersion(transaction, scope)
        const contentIds = await writeContents({ transaction, scope, files, space, version, indexer })
        return await writeDocuments({ transaction, scope, files, contentIds })
      }),

    /** Removes the document of `path` and, when `folder`, all below it; answers how many. */
    remove: (scope: WorkspaceScope, path: string, options: { folder: boolean }) =>
      database.inWorkspace(scope, async (transaction) => {
        await nextVersion(transaction, scope)
        const removed = await transaction
          .deleteFrom('documents')
          .where((row) =>
            options.folder
              ? row.or([
                  row('path', '=', path),
                  sql<boolean>`starts_with(path, ${path === '' ? '' : `${path}/`})`,
                ])
              : row('path', '=', path),
          )
          .returning('content_id')
          .execute()
        await removeOrphans(
          transaction,
          removed.map((row) => row.content_id),
        )
        return removed.length
      }),

    /** Removes the documents of `paths` in one transaction; answers how many. */
    removeAll: (scope: WorkspaceScope, paths: readonly string[]) =>
      database.inWorkspace(scope, async (transaction) => {
        await nextVersion(transaction, scope)
        const removed = await transaction
          .deleteFrom('documents')
          .where('path', '=', sql<string>`any(${[...paths]}::text[])`)
          .returning('content_id')
          .execute()
        await removeOrphans(
          transaction,
          removed.map((row) => row.content_id),
        )
        return removed.length
      }),

    /** Moves one document; false where there is none. The content, its chunks and vectors stay as they are. */
    rename: (scope: WorkspaceScope, from: string, to: { path: string; language: string | null }) =>
      database.inWorkspace(scope, async (transaction) => {
        await nextVersion(transaction, scope)
        const moved = await transaction
          .updateTable('documents')
          .set({ path: to.path, language: to.language, updated_at: sql`now()` })
          .where('path', '=', from)
          .executeTakeFirst()
        return moved.numUpdatedRows > 0n
      }),

    /** Chunks after `after` without a vector of `space`, in order, with what is embedded of them. */
    withoutVectors: (scope: WorkspaceScope, space: VectorSpace, after: number, limit: number) =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('chunks as chunk')
          .innerJoin('contents as content', 'content.id', 'chunk.content_id')
          .select(['chunk.id', 'chunk.header', 'chunk.symbols'])
          .select(
            sql<string>`substr(content.text, chunk.start_character + 1, chunk.characters)`.as('content'),
          )
          .where('chunk.id', '>', after)
          .where((row) =>
            row.not(
              row.exists(
                row
                  .selectFrom('chunk_vectors as vector')
                  .select('vector.chunk_id')
                  .whereRef('vector.chunk_id', '=', 'chunk.id')
                  .where('vector.model', '=', space.model)
                  .where('vector.dimensions', '=', space.dimensions),
              ),
            ),
          )
          .orderBy('chunk.id')
          .limit(limit)
          .execute()
        return rows
      }),

    /** Every workspace in which something was ever indexed. */
    workspaces: async (): Promise<string[]> => {
      const rows = await database.kysely.selectFrom('retrieval_indexes').select('workspace_id').execute()
      return rows.map(({ workspace_id }) => workspace_id)
    },

    countWithoutVectors: (scope: WorkspaceScope, space: VectorSpace): Promise<number> =>
      database.inWorkspace(scope, async (transaction) => {
        const { rows } = await sql<{ missing: number }>`
          select (select count(*) from chunks) - (select count(*) from chunk_vectors
            where model = ${space.model} and dimensions = ${space.dimensions}) as missing`.execute(
          transaction,
        )
        return rows[0]?.missing ?? 0
      }),

    /** Adds vectors of chunks; those that are gone or have one meanwhile are left out. */
    writeVectors: (scope: WorkspaceScope, space: VectorSpace, rows: readonly ChunkVector[]) =>
      database.inWorkspace(scope, async (transaction) => {
        const version = await nextVersion(transaction, scope)
        const present = await transaction
          .selectFrom('chunks')
          .select('id')
          .where(
            'id',
            'in',
            rows.map(({ chunkId }) => chunkId),
          )
          .execute()
        const ids = new Set(present.map(({ id }) => id))
        const kept = rows.filter(({ chunkId }) => ids.has(chunkId))
        await insertVectors({ transaction, scope, space, version }, kept)
      }),

    /** Drops the vectors of every other space. */
    keepOnly: (scope: WorkspaceScope, space: VectorSpace) =>
      database.inWorkspace(scope, async (transaction) => {
        await transaction
          .deleteFrom('chunk_vectors')
          .where((row) =>
            row.or([row('model', '!=', space.model), row('dimensions', '!=', space.dimensions)]),
          )
          .execute()
      }),
  }
}

export type RetrievalStore = ReturnType<typeof createRetrievalStore>

export interface ChunkVector {
  chunkId: number
  vector: Float32Array
}

/** Grows the version of the index. The row's lock makes other writers of the workspace wait for the end of the transaction. */
async function nextVersion(transaction: Transaction<Tables>, scope: WorkspaceScope): Promise<number> {
  const row = await transaction
    .insertInto('retrieval_indexes')
    .values({ workspace_id: scope.workspaceId, version: 1 })
    .onConflict((conflict) =>
      conflict
        .column('workspace_id')
        .doUpdateSet({ version: sql`retrieval_indexes.version + 1`, updated_at: sql`now()` }),
    )
    .returning('version')
    .executeTakeFirstOrThrow()
  return row.version
}

async function findDocuments(transaction: Transaction<Tables>, paths: string[]): Promise<StoredDocument[]> {
  const rows = await transaction
    .selectFrom('documents')
    .select(['id', 'path', 'content_sha256', 'language', 'status', 'reason'])
    .where('path', '=', sql<string>`any(${paths}::text[])`)
    .execute()
  return rows.map(({ content_sha256, ...row }) => ({ ...row, contentSha256: content_sha256 }))
}

async function findContents(transaction: Transaction<Tables>, digests: string[]): Promise<StoredContent[]> {
  const rows = await transaction
    .selectFrom('contents as content')
    .leftJoin('chunks as chunk', 'chunk.content_id', 'content.id')
    .select(['content.content_sha256', 'content.language', 'content.indexer'])
    .select((row) => row.fn.count<number>('chunk.id').as('chunks'))
    .where('content.content_sha256', '=', sql<string>`any(${digests}::text[])`)
    .groupBy('content.id')
    .execute()
  return rows.map((row) => ({
    contentSha256: row.content_sha256,
    language: row.language === '' ? null : row.language,
    indexer: row.indexer,
    chunks: row.chunks,
  }))
}

async function writeDocuments(options: {
  transaction: Transaction<Tables>
  scope: WorkspaceScope
  files: readonly PreparedFile[]
  contentIds: ReadonlyMap<string, number>
}): Promise<Map<string, string>> {
  const { transaction, scope, files, contentIds } = options
  const paths = files.map(({ path }) => path)
  const before = await transaction
    .selectFrom('documents')
    .select('content_id')
    .where('path', '=', sql<string>`any(${paths}::text[])`)
    .execute()
  const rows = await transaction
    .insertInto('documents')
    .values(
      files.map((file) => ({
        id: newId('document'),
        workspace_id: scope.workspaceId,
        path: file.path,
        content_sha256: file.contentSha256,
        bytes: file.bytes,
        language: file.language,
        status: file.status,
        reason: file.reason,
        content_id: file.status === 'failed' ? null : (contentIds.get(contentKey(file)) ?? null),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'path']).doUpdateSet((row) => ({
        content_sha256: row.ref('excluded.content_sha256'),
        bytes: row.ref('excluded.bytes'),
        language: row.ref('excluded.language'),
        status: row.ref('excluded.status'),
        reason: row.ref('excluded.reason'),
        content_id: row.ref('excluded.content_id'),
        updated_at: sql`now()`,
      })),
    )
    .returning(['id', 'path'])
    .execute()
  await removeOrphans(
    transaction,
    before.map((row) => row.content_id),
  )
  return new Map(rows.map(({ path, id }) => [path, id]))
}

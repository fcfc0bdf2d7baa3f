import { sql, type Transaction } from 'kysely'
import type { Tables } from '../../platform/db/tables.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { contentKey } from './content-key.ts'
import type { IndexedChunk } from './indexing-messages.ts'
import type { ChunkVector, PreparedFile, VectorSpace } from './retrieval-store.ts'
import { vectorLiteral } from './vector-literal.ts'

/** Rows of one statement: writing out the vectors of these is some milliseconds of work at once. */
const rowsPerStatement = 100

/** One transaction that changes the index of a workspace. */
export interface Writing {
  transaction: Transaction<Tables>
  scope: WorkspaceScope
  space: VectorSpace
  version: number
}

/** Stores the contents that are new or were cut by older rules; answers the id of each content. */
export async function writeContents(
  writing: Writing & { files: readonly PreparedFile[]; indexer: number },
): Promise<Map<string, number>> {
  const { transaction, files, indexer } = writing
  const known = await transaction
    .selectFrom('contents')
    .select(['id', 'content_sha256', 'language', 'indexer'])
    .where('content_sha256', '=', sql<string>`any(${files.map((file) => file.contentSha256)}::text[])`)
    .execute()
  const rows = new Map(known.map((row) => [keyOfRow(row), row]))
  const ids = new Map([...rows].map(([key, row]) => [key, row.id]))
  const wanted = new Map(
    files.flatMap((file) => (file.text === null ? [] : [[contentKey(file), file] as const])),
  )
  // Somebody else may have stored a content between our look and this transaction.
  const stale = [...wanted].filter(([key, file]) => (rows.get(key)?.indexer ?? -1) < versionOf(file, indexer))
  const outdated = stale.flatMap(([key, file]) => {
    const id = ids.get(key)
    return id === undefined ? [] : [{ id, file }]
  })
  for (const { id, file } of outdated) {
    await transaction.deleteFrom('chunks').where('content_id', '=', id).execute()
    await transaction
      .updateTable('contents')
      .set({ indexer: versionOf(file, indexer) })
      .where('id', '=', id)
      .execute()
  }
  const added = stale.filter(([key]) => !ids.has(key)).map(([, file]) => file)
  for (const [key, id] of await insertContents(writing, added)) ids.set(key, id)
  await insertChunks(
    writing,
    stale.flatMap(([key, file]) => chunkRows(ids.get(key), file)),
  )
  return ids
}

/** A text that is kept without being searched has version 0. */
function versionOf(file: PreparedFile, indexer: number): number {
  return file.status === 'indexed' ? indexer : 0
}

function keyOfRow(row: { content_sha256: string; language: string }): string {
  return contentKey({ contentSha256: row.content_sha256, language: row.language })
}

async function insertContents(
  { transaction, scope, indexer }: Writing & { indexer: number },
  files: readonly PreparedFile[],
): Promise<Map<string, number>> {
  if (files.length === 0) return new Map()
  const rows = await transaction
    .insertInto('contents')
    .values(
      files.map((file) => ({
        workspace_id: scope.workspaceId,
        content_sha256: file.contentSha256,
        language: file.language ?? '',
        indexer: versionOf(file, indexer),
        text: file.text ?? '',
      })),
    )
    .returning(['id', 'content_sha256', 'language'])
    .execute()
  return new Map(rows.map((row) => [keyOfRow(row), row.id]))
}

interface ChunkRow {
  contentId: number
  ordinal: number
  chunk: IndexedChunk
  vector: Float32Array | undefined
}

function chunkRows(contentId: number | undefined, file: PreparedFile): ChunkRow[] {
  if (contentId === undefined) return []
  return file.chunks.map((chunk, ordinal) => ({ contentId, ordinal, chunk, vector: file.vectors?.[ordinal] }))
}

async function insertChunks(writing: Writing, rows: readonly ChunkRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const page = rows.slice(from, from + rowsPerStatement)
    const inserted = await writing.transaction
      .insertInto('chunks')
      .values(
        page.map(({ contentId, ordinal, chunk }) => ({
          workspace_id: writing.scope.workspaceId,
          content_id: contentId,
          ordinal,
          start_line: chunk.startLine,
          end_line: chunk.endLine,
          start_character: chunk.startCharacter,
          characters: chunk.characters,
          header: chunk.header,
          symbols: chunk.symbols,
          terms: Buffer.from(chunk.terms),
        })),
      )
      .returning(['id', 'content_id', 'ordinal'])
      .execute()
    const ids = new Map(inserted.map((row) => [`${row.content_id} ${row.ordinal}`, row.id]))
    const vectors = page.flatMap(({ contentId, ordinal, vector }) => {
      const chunkId = ids.get(`${contentId} ${ordinal}`)
      return chunkId === undefined || vector === undefined ? [] : [{ chunkId, vector }]
    })
    await insertVectors(writing, vectors)
  }
}

export async function insertVectors(writing: Writing, rows: readonly ChunkVector[]): Promise<void> {
  const { transaction, scope, space, version } = writing
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await transaction
      .insertInto('chunk_vectors')
      .values(
        rows.slice(from, from + rowsPerStatement).map(({ chunkId, vector }) => ({
          chunk_id: chunkId,
          model: space.model,
          dimensions: space.dimensions,
          workspace_id: scope.workspaceId,
          version,
          embedding: vectorLiteral(vector),
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}

/** Deletes those of these contents that no document has any more; chunks and vectors go with them. */
export async function removeOrphans(
  transaction: Transaction<Tables>,
  contentIds: readonly (number | null)[],
): Promise<void> {
  const ids = [...new Set(contentIds.filter((id) => id !== null))]
  if (ids.length === 0) return
  await transaction
    .deleteFrom('contents')
    .where('id', '=', sql<number>`any(${ids}::bigint[])`)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('documents')
            .select('documents.id')
            .whereRef('documents.content_id', '=', 'contents.id'),
        ),
      ),
    )
    .execute()
}

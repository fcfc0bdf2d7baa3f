import { sql, type Transaction } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { unpackTerms } from './chunk-terms.ts'
import type { ResidentChunk } from './index-segment.ts'
import type { VectorSpace } from './retrieval-store.ts'
import { vectorLiteral } from './vector-literal.ts'
import type { ResidentDocument } from './workspace-index.ts'

/** What a result shows, as it is in the database now. */
export interface PassageRow {
  chunkId: number
  path: string
  language: string | null
  contentSha256: string
  startLine: number
  endLine: number
  content: string
  /** null: not embedded, or no question vector was given */
  similarity: number | null
}

/** One transaction of a search. */
export interface SearchReader {
  /** 0: nothing was ever indexed */
  version(): Promise<number>
  /** In the order of `places`; those that are gone meanwhile are left out. */
  passages(
    places: readonly { chunkId: number; documentId: string }[],
    vector: Float32Array | null,
  ): Promise<PassageRow[]>
}

/** What the index in memory is filled from, and what a search reads. */
export function createResidentStore({ database, space }: { database: Database; space: VectorSpace }) {
  return {
    search: <T>(scope: WorkspaceScope, work: (reader: SearchReader) => Promise<T>): Promise<T> =>
      database.inWorkspace(scope, (transaction) =>
        work({
          version: () => readVersion(transaction),
          passages: (places, vector) => readPassages(transaction, { places, vector, space }),
        }),
      ),

    documents: (scope: WorkspaceScope): Promise<ResidentDocument[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('documents')
          .select(['id', 'path', 'language', 'content_id', 'content_sha256'])
          .where('status', '=', 'indexed')
          .orderBy('id')
          .execute()
        return rows.flatMap((row) =>
          row.content_id === null
            ? []
            : [
                {
                  id: row.id,
                  path: row.path,
                  language: row.language,
                  contentId: row.content_id,
                  contentSha256: row.content_sha256,
                },
              ],
        )
      }),

    /** All chunks of these contents, with their vectors where they have one. */
    chunks: (scope: WorkspaceScope, contentIds: readonly number[]): Promise<ResidentChunk[]> =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('chunks as chunk')
          .leftJoin('chunk_vectors as vector', (join) =>
            join
              .onRef('vector.chunk_id', '=', 'chunk.id')
              .on('vector.model', '=', space.model)
              .on('vector.dimensions', '=', space.dimensions),
          )
          .select(['chunk.id', 'chunk.content_id'])
          .select(sql<string>`encode(chunk.terms, 'base64')`.as('terms'))
          .select(sql<string | null>`encode(halfvec_send(vector.embedding), 'base64')`.as('embedding'))
          .where('chunk.content_id', '=', sql<number>`any(${contentIds}::bigint[])`)
          .orderBy('chunk.content_id')
          .orderBy('chunk.ordinal')
          .execute()
        return rows.map((row) => ({
          chunkId: row.id,
          contentId: row.content_id,
          terms: unpackTerms(Buffer.from(row.terms, 'base64')),
          vector: row.embedding === null ? null : decodeHalfVector(row.embedding),
        }))
      }),

    /** Vectors written after `version`, in the order of their chunks. */
    vectorsSince: (scope: WorkspaceScope, version: number, after: number, limit: number) =>
      database.inWorkspace(scope, async (transaction) => {
        const rows = await transaction
          .selectFrom('chunk_vectors')
          .select('chunk_id')
          .select(sql<string>`encode(halfvec_send(embedding), 'base64')`.as('embedding'))
          .where('model', '=', space.model)
          .where('dimensions', '=', space.dimensions)
          .where('version', '>', version)
          .where('chunk_id', '>', after)
          .orderBy('chunk_id')
          .limit(limit)
          .execute()
        return rows.map((row) => ({ chunkId: row.chunk_id, vector: decodeHalfVector(row.embedding) }))
      }),
  }
}

export type ResidentStore = ReturnType<typeof createResidentStore>

async function readVersion(transaction: Transaction<Tables>): Promise<number> {
  const row = await transaction.selectFrom('retrieval_indexes').select('version').executeTakeFirst()
  return row?.version ?? 0
}

async function readPassages(
  transaction: Transaction<Tables>,
  options: {
    places: readonly { chunkId: number; documentId: string }[]
    vector: Float32Array | null
    space: VectorSpace
  },
): Promise<PassageRow[]> {
  const { places, vector, space } = options
  if (places.length === 0) return []
  const similarity =
    vector === null
      ? sql<number | null>`null::float8`
      : sql<number | null>`(select 1 - (embedding <=> ${vectorLiteral(vector)}::halfvec) from chunk_vectors
          where chunk_id = chunk.id and model = ${space.model} and dimensions = ${space.dimensions})`
  const { rows } = await sql<PassageRow>`
    select chunk.id as "chunkId", document.path, document.language, document.content_sha256 as "contentSha256",
      chunk.start_line as "startLine", chunk.end_line as "endLine",
      substr(content.text, chunk.start_character + 1, chunk.characters) as content, ${similarity} as similarity
    from unnest(${places.map((place) => place.chunkId)}::bigint[], ${places.map((place) => place.documentId)}::text[])
      with ordinality as place (chunk_id, document_id, position)
    join chunks as chunk on chunk.id = place.chunk_id
    join documents as document on document.id = place.document_id and document.content_id = chunk.content_id
    join contents as content on content.id = chunk.content_id
    order by place.position`.execute(transaction)
  return rows
}

/** `halfvec_send`: two 16-bit numbers, then the components as half-precision numbers, all big endian. */
function decodeHalfVector(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64')
  const dimensions = bytes.readUInt16BE(0)
  // A copy of its own: swapping turns bytes around where they are, and a typed array starts at an even place.
  const halves = Uint8Array.prototype.slice.call(bytes, 4, 4 + dimensions * 2)
  Buffer.from(halves.buffer).swap16()
  return Float32Array.from(new Float16Array(halves.buffer))
}

import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { DocumentId, WorkspaceId } from './ids.ts'

const tag = 'AI'

/** Largest multipart body of an upload, in bytes. */
export const maxUploadBytes = 50 * 1024 * 1024

export const IngestStatus = z.enum(['indexed', 'skipped', 'failed'])

export const IngestedFile = z.object({
  name: z.string().describe('path in the workspace'),
  documentId: DocumentId.nullable(),
  bytes: z.number().int(),
  language: z.string().nullable(),
  chunks: z.number().int(),
  status: IngestStatus,
  reason: z.string().optional().describe('why it was skipped or failed'),
})
export type IngestedFile = z.infer<typeof IngestedFile>

export const IngestTotals = z.object({
  files: z.number().int(),
  indexed: z.number().int(),
  skipped: z.number().int(),
  failed: z.number().int(),
  bytes: z.number().int(),
  chunks: z.number().int(),
})
export type IngestTotals = z.infer<typeof IngestTotals>

export const uploadFiles = endpoint({
  name: 'uploadFiles',
  method: 'POST',
  path: '/api/ai/upload',
  tag,
  summary: 'Store files in a workspace, split them into chunks and embed them for search',
  access: 'user',
  scope: 'files:write',
  rate: 'upload',
  multipart: z.strictObject({ workspaceId: WorkspaceId }),
  maxBodyBytes: maxUploadBytes,
  data: z.object({ workspaceId: WorkspaceId, files: z.array(IngestedFile), totals: IngestTotals }),
  message: 'Files processed',
})

export const SearchLeg = z.object({
  leg: z.enum(['vector', 'lexical', 'path', 'symbol']),
  rank: z.number().int().min(1),
  score: z.number(),
})

export const SearchResult = z.object({
  path: z.string(),
  startLine: z.number().int().min(1),
  endLine: z.number().int().min(1),
  content: z.string(),
  language: z.string().nullable(),
  similarity: z
    .number()
    .nullable()
    .describe('cosine similarity; null where no vector of this chunk was compared'),
  score: z.number().describe('fused score (weighted reciprocal ranks)'),
  legs: z.array(SearchLeg),
})
export type SearchResult = z.infer<typeof SearchResult>

export const RelevanceScore = z.enum(['high', 'medium'])
export type RelevanceScore = z.infer<typeof RelevanceScore>

/** Section 2.5 of the specification. */
export const RagContext = z.object({
  context: z.string(),
  workspaceId: WorkspaceId,
  relevanceScore: RelevanceScore.nullable().describe('null: nothing relevant was found'),
})
export type RagContext = z.infer<typeof RagContext>

export const searchWorkspace = endpoint({
  name: 'searchWorkspace',
  method: 'POST',
  path: '/api/ai/search',
  tag,
  summary:
    'Search the code of one workspace by meaning of its words: vectors, words, paths and symbols, fused',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  body: z.strictObject({
    query: z.string().trim().min(1, 'must not be empty').max(4_000),
    workspaceId: WorkspaceId,
    limit: z.number().int().min(1).max(50).default(8),
    threshold: z.number().min(0).max(1).optional().describe('least cosine similarity of a result'),
  }),
  data: z.object({
    query: z.string(),
    results: z.array(SearchResult),
    context: RagContext,
    embeddingModel: z.string(),
    tookMs: z.number(),
  }),
  message: 'Search completed',
})

export const IndexState = z.object({
  workspaceId: WorkspaceId,
  documents: z.number().int(),
  chunks: z.number().int(),
  vectors: z.number().int().describe('chunks embedded with the present model'),
  pending: z.number().int().describe('chunks still to be embedded with the present model'),
  skipped: z.array(z.object({ reason: z.string(), files: z.number().int() })),
  failed: z.number().int(),
  embeddingModel: z.string(),
  dimensions: z.number().int(),
  updatedAt: z.iso.datetime().nullable(),
  changes: z
    .object({
      pending: z
        .number()
        .int()
        .describe(
          'changes of the directory that are not in the index yet; at least 1 while all of it is compared',
        ),
      watching: z
        .enum(['native', 'polling', 'off'])
        .nullable()
        .describe('how changes are noticed; null: the workspace does not run, so nothing changes'),
      reason: z.string().nullable().describe('why it is not watched by the kernel'),
    })
    .describe('what search has yet to learn of the files on disk'),
})
export type IndexState = z.infer<typeof IndexState>

export const getIndexState = endpoint({
  name: 'getIndexState',
  method: 'GET',
  path: '/api/ai/search',
  tag,
  summary: 'The state of a workspace’s search index',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  query: z.strictObject({ workspaceId: WorkspaceId }),
  data: IndexState,
  message: 'Index state read',
})

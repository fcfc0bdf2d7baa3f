import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { WorkspaceId } from './ids.ts'

const tag = 'Files'

/** Longest path in bytes, as on Linux. */
export const maxPathLength = 4096

/** Longest name in bytes, as on Linux. */
const maxNameLength = 255

/** Content of one file in a JSON body or answer, in bytes; larger ones travel as bytes. */
export const maxFileContentBytes = 8 * 1024 * 1024

/** JSON body that carries contents: base64 takes a third more than the bytes. */
export const maxFileBodyBytes = 16 * 1024 * 1024

/** Operations of one batch. */
export const maxBatchOperations = 1000

/** Matches of one search. */
export const maxFileMatches = 2000

/** Uncompressed bytes of one export. */
export const maxExportBytes = 2 * 1024 ** 3

const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text).length

/** A relative path inside a workspace: no `..`, no empty or `.` segment, no NUL, no backslash. The root is the empty string. */
export const WorkspacePath = z
  .string()
  .refine((path) => bytesOf(path) <= maxPathLength, `must have at most ${maxPathLength} bytes`)
  .refine((path) => path.isWellFormed(), 'must be valid Unicode')
  .refine((path) => !path.startsWith('/'), 'must be relative')
  .refine((path) => !path.includes('\0') && !path.includes('\\'), 'must not contain NUL or a backslash')
  .refine(
    (path) =>
      path === '' ||
      path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..'),
    'must not contain empty, "." or ".." segments',
  )
  .refine(
    (path) => path.split('/').every((segment) => bytesOf(segment) <= maxNameLength),
    `must not contain a name of more than ${maxNameLength} bytes`,
  )

/** As WorkspacePath, but not the root. */
export const EntryPath = WorkspacePath.refine((path) => path !== '', 'must not be empty')

/** SHA-256 of the content, in hexadecimal. */
export const Revision = z.string().regex(/^[0-9a-f]{64}$/, 'must be a revision: 64 hexadecimal digits')

export const ContentEncoding = z.enum(['utf8', 'base64'])

/** A flag in a query. */
const Flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

/** A pattern in the language of `.gitignore`. */
const Glob = z.string().min(1).max(1000).describe('in the language of .gitignore: `*.ts`, `/src/**`')

export const FileContent = z.object({
  kind: z.literal('file'),
  path: z.string(),
  content: z.string(),
  encoding: ContentEncoding.describe('base64 where the content is not UTF-8 text'),
  revision: Revision,
  size: z.number().int().describe('bytes'),
  modifiedAt: z.iso.datetime(),
  language: z.string().nullable(),
})
export type FileContent = z.infer<typeof FileContent>

export const DirectoryEntry = z.object({
  path: z.string(),
  name: z.string(),
  kind: z
    .enum(['file', 'directory', 'symlink', 'other'])
    .describe('links are listed, and followed by nothing here'),
  size: z.number().int().nullable().describe('bytes; null for what is not a file'),
  modifiedAt: z.iso.datetime().nullable(),
  executable: z.boolean(),
  revision: Revision.nullable().describe('of files, where `revisions` asks for it'),
  language: z.string().nullable(),
  indexing: z
    .enum(['indexed', 'pending', 'skipped', 'failed'])
    .nullable()
    .describe('null for what is not a file'),
  reason: z.string().nullable().describe('why a file is not searchable, or a folder is not entered'),
})
export type DirectoryEntry = z.infer<typeof DirectoryEntry>

export const DirectoryListing = z.object({
  kind: z.literal('directory'),
  path: z.string(),
  entries: z.array(DirectoryEntry),
  truncated: z.boolean().describe('true: the listing has reached its limit'),
})
export type DirectoryListing = z.infer<typeof DirectoryListing>

export const readFiles = endpoint({
  name: 'readFiles',
  method: 'GET',
  path: '/api/files',
  tag,
  summary: 'Read one file, or list a directory',
  access: 'user',
  scope: 'files:read',
  rate: 'standard',
  query: z.strictObject({
    workspaceId: WorkspaceId,
    path: WorkspacePath.default(''),
    depth: z.coerce.number().int().min(1).max(64).default(1).describe('levels of a directory to list'),
    glob: Glob.optional(),
    revisions: Flag.describe('list the revision of every file'),
  }),
  data: z.discriminatedUnion('kind', [FileContent, DirectoryListing]),
  message: 'Read',
})

export const readRawFile = endpoint({
  name: 'readRawFile',
  method: 'GET',
  path: '/api/files/raw',
  tag,
  summary: 'The bytes of one file, whole or a range of them; never to be run on this origin',
  access: 'user',
  scope: 'files:read',
  rate: 'standard',
  query: z.strictObject({ workspaceId: WorkspaceId, path: EntryPath }),
  produces: 'application/octet-stream',
  message: 'Read',
})

/** What is at a path after a change. */
export const ChangedEntry = z.object({
  path: z.string(),
  kind: DirectoryEntry.shape.kind,
  revision: Revision.nullable().describe('null for what is not a file'),
  size: z.number().int().nullable().describe('bytes; null for what is not a file'),
  modifiedAt: z.iso.datetime(),
})
export type ChangedEntry = z.infer<typeof ChangedEntry>

const content = {
  content: z
    .string()
    .default('')
    .describe(`at most ${maxFileContentBytes} bytes after decoding; empty where absent`),
  encoding: ContentEncoding.default('utf8'),
  executable: z.boolean().optional().describe('kept as it is, or false for a new file, where absent'),
}

/** The revision that a change is based on; `null`: the file must not be there. */
const BaseRevision = Revision.nullable()

export const createFile = endpoint({
  name: 'createFile',
  method: 'POST',
  path: '/api/files',
  tag,
  summary:
    'Create a file or a directory, with the directories above it; 409 where something is there (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  body: z.strictObject({
    workspaceId: WorkspaceId,
    path: EntryPath,
    kind: z.enum(['file', 'directory']).default('file'),
    ...content,
  }),
  maxBodyBytes: maxFileBodyBytes,
  data: ChangedEntry,
  status: 201,
  message: 'Created',
})

export const replaceFile = endpoint({
  name: 'replaceFile',
  method: 'PUT',
  path: '/api/files',
  tag,
  summary:
    'Replace a file’s content, as it was at `baseRevision` or `If-Match`; 409 with the current revision otherwise (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  body: z.strictObject({
    workspaceId: WorkspaceId,
    path: EntryPath,
    baseRevision: BaseRevision.optional().describe(
      'the revision that was read; null: the file must not be there and is made; required unless `If-Match` is sent',
    ),
    ...content,
    content: z.string().describe(`at most ${maxFileContentBytes} bytes after decoding`),
  }),
  maxBodyBytes: maxFileBodyBytes,
  data: ChangedEntry,
  message: 'Replaced',
})

export const moveFile = endpoint({
  name: 'moveFile',
  method: 'PATCH',
  path: '/api/files',
  tag,
  summary: 'Move or rename a file, a directory or a link; 409 where the name is taken (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  body: z.strictObject({ workspaceId: WorkspaceId, from: EntryPath, to: EntryPath }),
  data: ChangedEntry,
  message: 'Moved',
})

export const deleteFile = endpoint({
  name: 'deleteFile',
  method: 'DELETE',
  path: '/api/files',
  tag,
  summary: 'Delete a file, a link or a directory; one that is not empty only with `recursive` (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  query: z.strictObject({
    workspaceId: WorkspaceId,
    path: EntryPath,
    recursive: Flag,
    baseRevision: Revision.optional().describe(
      'delete the file only at this revision; `If-Match` says the same',
    ),
  }),
  data: z.object({ path: z.string() }),
  message: 'Deleted',
})

export const FileOperation = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('create'),
    path: EntryPath,
    kind: z.enum(['file', 'directory']).default('file'),
    ...content,
  }),
  z.strictObject({
    op: z.literal('replace'),
    path: EntryPath,
    baseRevision: BaseRevision,
    ...content,
    content: z.string(),
  }),
  z.strictObject({ op: z.literal('move'), from: EntryPath, to: EntryPath }),
  z.strictObject({
    op: z.literal('delete'),
    path: EntryPath.describe('a directory goes with all that is in it'),
    baseRevision: Revision.optional(),
  }),
])
export type FileOperation = z.infer<typeof FileOperation>

export const FileOperationResult = z.object({
  op: z.enum(['create', 'replace', 'move', 'delete']),
  path: z.string().describe('where it is now, or was'),
  revision: Revision.nullable().describe('of a file that was written'),
})
export type FileOperationResult = z.infer<typeof FileOperationResult>

export const changeFiles = endpoint({
  name: 'changeFiles',
  method: 'POST',
  path: '/api/files/batch',
  tag,
  summary: 'Several changes at once, all or none; no two may touch the same path (editor)',
  access: 'user',
  scope: 'files:write',
  rate: 'standard',
  body: z.strictObject({
    workspaceId: WorkspaceId,
    operations: z.array(FileOperation).min(1).max(maxBatchOperations),
  }),
  maxBodyBytes: maxFileBodyBytes,
  data: z.object({ results: z.array(FileOperationResult).describe('in the order of the operations') }),
  message: 'Changed',
})

export const FileMatch = z.object({
  path: z.string(),
  line: z.number().int().min(1),
  column: z.number().int().min(1).describe('in characters'),
  length: z.number().int().describe('characters of the match, as far as `text` shows it'),
  text: z.string().describe('the line, cut around the match where it is long'),
})
export type FileMatch = z.infer<typeof FileMatch>

export const searchFiles = endpoint({
  name: 'searchFiles',
  method: 'GET',
  path: '/api/files/search',
  tag,
  summary: 'Find a text or a pattern in the files as they are on disk; ignored and binary files are left out',
  access: 'user',
  scope: 'files:read',
  rate: 'standard',
  query: z.strictObject({
    workspaceId: WorkspaceId,
    query: z.string().min(1, 'must not be empty').max(1000),
    path: WorkspacePath.default('').describe('the directory to search in'),
    regex: Flag,
    caseSensitive: Flag,
    wholeWord: Flag,
    glob: Glob.optional(),
    limit: z.coerce.number().int().min(1).max(maxFileMatches).default(200),
  }),
  data: z.object({
    matches: z.array(FileMatch).describe('by path and line'),
    truncated: z.boolean().describe('true: there are more matches than `limit`'),
    engine: z.enum(['ripgrep', 'scan']),
  }),
  message: 'Searched',
})

export const DirectoryChange = z.object({
  paths: z
    .array(z.string())
    .describe('what was created, changed, moved or deleted; a directory stands for all in it; at most 1,000'),
  all: z.boolean().describe('true: anything may have changed, so list and read anew; `paths` is then empty'),
  watching: z
    .enum(['native', 'polling', 'off'])
    .nullable()
    .describe('how changes are noticed; null: the workspace does not run, so nothing changes'),
  reason: z.string().nullable().describe('why the kernel does not tell'),
})
export type DirectoryChange = z.infer<typeof DirectoryChange>

export const watchFiles = endpoint({
  name: 'watchFiles',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/events',
  tag,
  summary:
    'What changes on disk, whoever changes it; the first event is for everything. Neither starts the workspace nor keeps it running',
  access: 'user',
  scope: 'files:read',
  rate: 'standard',
  params: z.strictObject({ workspaceId: WorkspaceId }),
  events: DirectoryChange,
  message: 'Changes',
})

export const exportWorkspace = endpoint({
  name: 'exportWorkspace',
  method: 'GET',
  path: '/api/workspaces/:workspaceId/export',
  tag: 'Workspaces',
  summary: 'Every regular file and directory as one archive, packed while it is sent',
  access: 'user',
  scope: 'files:read',
  rate: 'standard',
  params: z.strictObject({ workspaceId: WorkspaceId }),
  query: z.strictObject({
    format: z.enum(['tar.gz', 'zip']).default('tar.gz'),
    path: WorkspacePath.default('').describe('the directory to export'),
    gitignore: Flag.describe('leave out what .gitignore files name, and .git'),
  }),
  produces: 'application/octet-stream',
  message: 'Exported',
})

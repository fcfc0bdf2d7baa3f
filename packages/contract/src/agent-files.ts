import * as z from 'zod'

// `* as z`: the agent's bundle then holds only the parts of zod it uses.

/** Bounds of one answer; a caller asks again from where it ended. */
export const fileLimits = {
  /** bytes of a path, PATH_MAX of Linux */
  path: 4096,
  /** bytes of one name, NAME_MAX of Linux */
  name: 255,
  /** entries of one listing */
  listed: 5000,
  /** directory levels of one walk */
  depth: 64,
  /** operations of one batch */
  batch: 1000,
  /** bytes of all contents of one batch */
  batchBytes: 64 * 1024 * 1024,
  /** bytes of one file written through the interface */
  fileBytes: 512 * 1024 * 1024,
  /** matches of one search */
  matches: 2000,
} as const

const encoder = new TextEncoder()

/** True for `a/b.txt` and for `` (the root); false for `/a`, `a//b`, `./a`, `a/..`, NUL, and names too long to exist. */
export function isWorkspacePath(path: string): boolean {
  if (path === '') return true
  if (path.includes('\0') || !path.isWellFormed() || encoder.encode(path).length > fileLimits.path)
    return false
  return path
    .split('/')
    .every(
      (name) =>
        name !== '' && name !== '.' && name !== '..' && encoder.encode(name).length <= fileLimits.name,
    )
}

const pathIssue = 'must be relative, without empty, . or .. segments'
/** A file or directory of the workspace, relative to its root; the root itself is the empty string. */
export const WorkspacePath = z.string().max(fileLimits.path).refine(isWorkspacePath, pathIssue)
/** As WorkspacePath, but not the root. */
export const EntryPath = WorkspacePath.min(1)

/** SHA-256 of a file's content, in hexadecimal. */
export const FileRevision = z.string().regex(/^[0-9a-f]{64}$/)

const Glob = z.string().min(1).max(1000)
const ByteCount = z.int().min(0)

export const AgentFileEntry = z.strictObject({
  path: WorkspacePath,
  type: z.enum(['file', 'directory', 'symlink', 'other']),
  size: ByteCount,
  /** milliseconds since the epoch */
  modifiedAt: z.number(),
  executable: z.boolean(),
  /** of files, where the request asks for it */
  revision: FileRevision.optional(),
  /** named by a `.gitignore`, where the request asks for it */
  ignored: z.boolean().optional(),
})
export type AgentFileEntry = z.infer<typeof AgentFileEntry>

/** What the caller believes is there: whatever, nothing, or a content it has read. */
export const WriteBase = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('any') }),
  z.strictObject({ kind: z.literal('absent') }),
  z.strictObject({ kind: z.literal('revision'), revision: FileRevision }),
])
export type WriteBase = z.infer<typeof WriteBase>

export const WrittenFile = z.strictObject({
  path: EntryPath,
  revision: FileRevision,
  size: ByteCount,
  modifiedAt: z.number(),
  created: z.boolean(),
})
export type WrittenFile = z.infer<typeof WrittenFile>

/** `bytes` is how much of the upload is this file's content; contents follow each other in the order of operations. */
export const BatchOperation = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('write'),
    path: EntryPath,
    base: WriteBase,
    bytes: ByteCount,
    executable: z.boolean().optional(),
  }),
  z.strictObject({ op: z.literal('mkdir'), path: EntryPath, exclusive: z.boolean().optional() }),
  z.strictObject({ op: z.literal('move'), from: EntryPath, to: EntryPath }),
  z.strictObject({ op: z.literal('delete'), path: EntryPath, base: WriteBase.optional() }),
])
export type BatchOperation = z.infer<typeof BatchOperation>

const SkippedEntry = z.strictObject({ name: z.string().max(300), reason: z.string().max(200) })

const ArchiveCaps = z.strictObject({
  entries: z.int().min(1).max(200_000),
  totalBytes: z
    .int()
    .min(1)
    .max(8 * 1024 ** 3),
  /** unpacked size divided by packed size, looked at after the first 10 MiB */
  ratio: z.number().min(1).max(10_000),
})

const ArchiveFormat = z.enum(['zip', 'tar.gz'])

export const GrepMatch = z.strictObject({
  path: EntryPath,
  /** 1-based */
  line: z.int().min(1),
  /** 1-based, in characters */
  column: z.int().min(1),
  /** length of the match in characters, as far as `text` shows it */
  length: ByteCount,
  /** the line, cut to 500 characters around the match */
  text: z.string().max(600),
})
export type GrepMatch = z.infer<typeof GrepMatch>

/** Operations on files: request, answer, and whether bytes travel with it. */
export const fileOperations = {
  'files.stat': {
    params: z.strictObject({ path: WorkspacePath, revision: z.boolean().default(false) }),
    result: AgentFileEntry,
  },

  /** Sorted by path; `next` continues a cut listing when passed as `after`. */
  'files.list': {
    params: z.strictObject({
      path: WorkspacePath,
      depth: z.int().min(1).max(fileLimits.depth).default(1),
      glob: Glob.optional(),
      /**
       * what `.gitignore` files name, and `.git`: `show` it like the rest, `mark` it as ignored and do not enter it, or
       * `hide` it
       */
      gitignore: z.enum(['show', 'mark', 'hide']).default('show'),
      /** names of directories that are listed but not entered */
      closed: z.array(z.string().min(1).max(fileLimits.name)).max(100).default([]),
      revisions: z.boolean().default(false),
      limit: z.int().min(1).max(fileLimits.listed).default(fileLimits.listed),
      after: EntryPath.optional(),
    }),
    result: z.strictObject({ entries: z.array(AgentFileEntry), next: EntryPath.nullable() }),
  },

  /** The event comes before the first byte. The content is one version of the file, else CONFLICT. */
  'files.read': {
    params: z.strictObject({
      path: EntryPath,
      offset: ByteCount.default(0),
      length: ByteCount.optional(),
      /** refuse a file larger than this, before a byte of it is sent */
      maxSize: ByteCount.optional(),
    }),
    events: z.strictObject({
      kind: z.literal('opened'),
      size: ByteCount,
      revision: FileRevision,
      modifiedAt: z.number(),
      executable: z.boolean(),
    }),
    result: z.strictObject({ bytes: ByteCount }),
    download: true,
  },

  'files.write': {
    params: z.strictObject({
      path: EntryPath,
      base: WriteBase,
      executable: z.boolean().optional(),
      createParents: z.boolean().default(true),
      maxBytes: z.int().min(0).max(fileLimits.fileBytes).default(fileLimits.fileBytes),
    }),
    result: WrittenFile,
    upload: true,
  },

  'files.mkdir': {
    params: z.strictObject({
      path: EntryPath,
      parents: z.boolean().default(true),
      /** a directory that is there already is a CONFLICT */
      exclusive: z.boolean().default(false),
    }),
    result: AgentFileEntry,
  },

  'files.move': {
    params: z.strictObject({ from: EntryPath, to: EntryPath, createParents: z.boolean().default(true) }),
    result: AgentFileEntry,
  },

  'files.delete': {
    params: z.strictObject({
      path: EntryPath,
      recursive: z.boolean().default(false),
      base: WriteBase.optional(),
    }),
    result: z.strictObject({ path: EntryPath }),
  },

  'files.batch': {
    params: z.strictObject({ operations: z.array(BatchOperation).min(1).max(fileLimits.batch) }),
    result: z.strictObject({ written: z.array(WrittenFile) }),
    upload: true,
  },

  'files.grep': {
    params: z.strictObject({
      query: z.string().min(1).max(1000),
      regex: z.boolean().default(false),
      caseSensitive: z.boolean().default(false),
      wholeWord: z.boolean().default(false),
      path: WorkspacePath.default(''),
      glob: Glob.optional(),
      limit: z.int().min(1).max(fileLimits.matches).default(200),
      timeoutMs: z.int().min(100).max(60_000).default(10_000),
    }),
    result: z.strictObject({
      matches: z.array(GrepMatch),
      truncated: z.boolean(),
      engine: z.enum(['ripgrep', 'scan']),
    }),
  },

  /** All or nothing: a refused archive changes nothing. */
  'files.import': {
    params: z.strictObject({
      format: ArchiveFormat,
      path: WorkspacePath.default(''),
      /** what to do about a file that is there already */
      existing: z.enum(['refuse', 'replace']).default('refuse'),
      caps: ArchiveCaps.default({ entries: 50_000, totalBytes: 1024 ** 3, ratio: 200 }),
    }),
    result: z.strictObject({
      files: ByteCount,
      directories: ByteCount,
      bytes: ByteCount,
      skipped: z.array(SkippedEntry).max(100),
    }),
    upload: true,
  },

  'files.export': {
    params: z.strictObject({
      format: ArchiveFormat,
      path: WorkspacePath.default(''),
      gitignore: z.boolean().default(false),
      maxBytes: z
        .int()
        .min(1)
        .max(8 * 1024 ** 3)
        .default(2 * 1024 ** 3),
    }),
    result: z.strictObject({
      files: ByteCount,
      directories: ByteCount,
      bytes: ByteCount,
      skipped: z.array(SkippedEntry).max(100),
    }),
    download: true,
  },
} as const

import type { ChangedEntry, FileOperation, FileOperationResult } from '@atelier/contract'
import type { AgentFileEntry, BatchOperation, WriteBase, WrittenFile } from '@atelier/contract/agent-files'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { AgentError } from '../../platform/runtime/agent-error.ts'
import { decodeContent } from './decode-content.ts'
import { type LiveDirectory, translating } from './live-directory.ts'

interface Content {
  content: string
  encoding: 'utf8' | 'base64'
  executable?: boolean | undefined
}

/**
 * Changes to the directory of a workspace: each durable when it resolves, and all or nothing. Throws CONFLICT with
 * `details.revision`, what is there now, where the directory is not as the caller believed; SERVICE_UNAVAILABLE where
 * workspaces cannot be started.
 */
export interface FileChanges {
  create(
    scope: WorkspaceScope,
    file: Content & { path: string; kind: 'file' | 'directory' },
  ): Promise<ChangedEntry>
  /** `base` `null`: nothing must be there. */
  replace(scope: WorkspaceScope, file: Content & { path: string; base: string | null }): Promise<ChangedEntry>
  move(scope: WorkspaceScope, paths: { from: string; to: string }): Promise<ChangedEntry>
  delete(
    scope: WorkspaceScope,
    target: { path: string; recursive: boolean; base: string | undefined },
  ): Promise<void>
  batch(scope: WorkspaceScope, operations: readonly FileOperation[]): Promise<FileOperationResult[]>
}

export function createFileChanges(dependencies: {
  live: LiveDirectory
  /** told what has changed, so that search catches up */
  changed(workspaceId: string, paths: readonly string[]): void
}): FileChanges {
  const { live, changed } = dependencies
  const detail = 'changing files'

  async function write(
    scope: WorkspaceScope,
    { path, base, ...file }: Content & { path: string; base: WriteBase },
  ): Promise<ChangedEntry> {
    const body = decodeContent(file)
    const client = await live.use(scope, detail)
    const written = await client.call('files.write', { path, base, ...executableOf(file) }, { body })
    changed(scope.workspaceId, [path])
    return writtenEntry(written)
  }

  return {
    create: (scope, { kind, ...file }) =>
      translating(async () => {
        const { path } = file
        try {
          if (kind === 'file') return await write(scope, { ...file, base: { kind: 'absent' } })
          refuseContent(file)
          const client = await live.use(scope, detail)
          const entry = await client.call('files.mkdir', { path, exclusive: true })
          changed(scope.workspaceId, [path])
          return changedEntry(entry)
        } catch (error) {
          throw takenBy(error, path)
        }
      }),
    replace: (scope, { base, ...file }) =>
      translating(() =>
        write(scope, {
          ...file,
          base: base === null ? { kind: 'absent' } : { kind: 'revision', revision: base },
        }),
      ),
    move: (scope, { from, to }) =>
      translating(async () => {
        const client = await live.use(scope, detail)
        const moved = await client.call('files.move', { from, to })
        changed(scope.workspaceId, [from, to])
        if (moved.type !== 'file') return changedEntry(moved)
        return changedEntry(await client.call('files.stat', { path: to, revision: true }))
      }),
    delete: (scope, { path, recursive, base }) =>
      translating(async () => {
        const client = await live.use(scope, detail)
        const condition = base === undefined ? {} : { base: { kind: 'revision' as const, revision: base } }
        await client.call('files.delete', { path, recursive, ...condition })
        changed(scope.workspaceId, [path])
      }),
    batch: (scope, operations) =>
      translating(async () => {
        const contents: Buffer[] = []
        const translatedOperations = operations.map((operation, index) => {
          const { asked, content } = toAgent(operation, `operations.${index}.content`)
          if (content !== undefined) contents.push(content)
          return asked
        })
        const client = await live.use(scope, detail)
        const { written } = await client.call(
          'files.batch',
          { operations: translatedOperations },
          { body: Buffer.concat(contents) },
        )
        changed(scope.workspaceId, operations.flatMap(pathsOf))
        return resultsOf(operations, written)
      }),
  }
}

function toAgent(operation: FileOperation, field: string): { asked: BatchOperation; content?: Buffer } {
  switch (operation.op) {
    case 'move':
      return { asked: { op: 'move', from: operation.from, to: operation.to } }
    case 'delete': {
      const { path, baseRevision } = operation
      const base = baseRevision === undefined ? {} : { base: revisionBase(baseRevision) }
      return { asked: { op: 'delete', path, ...base } }
    }
    case 'create': {
      const { path, kind } = operation
      if (kind === 'file') return toWrite(operation, { kind: 'absent' }, field)
      refuseContent(operation, field)
      return { asked: { op: 'mkdir', path, exclusive: true } }
    }
    case 'replace': {
      const { baseRevision } = operation
      return toWrite(
        operation,
        baseRevision === null ? { kind: 'absent' } : revisionBase(baseRevision),
        field,
      )
    }
  }
}

function toWrite(
  file: Content & { path: string },
  base: WriteBase,
  field: string,
): { asked: BatchOperation; content: Buffer } {
  const content = decodeContent(file, field)
  const { path } = file
  return { asked: { op: 'write', path, base, bytes: content.length, ...executableOf(file) }, content }
}

function revisionBase(revision: string): WriteBase {
  return { kind: 'revision', revision }
}

function executableOf({ executable }: { executable?: boolean | undefined }): { executable?: boolean } {
  return executable === undefined ? {} : { executable }
}

function refuseContent({ content }: Content, field = 'content'): void {
  if (content === '') return
  throw new AppError('INVALID_REQUEST', 'A directory has no content', { details: { field } })
}

/** A name that is taken by a directory or a link is as taken as one that a file has. */
function takenBy(error: unknown, path: string): unknown {
  if (!(error instanceof AgentError) || (error.code !== 'NOT_A_FILE' && error.code !== 'LINK_REFUSED'))
    return error
  return new AgentError('CONFLICT', `${path} is there already, or leads through a link`, { path })
}

function pathsOf(operation: FileOperation): string[] {
  return operation.op === 'move' ? [operation.from, operation.to] : [operation.path]
}

/** The agent lists what was written in the order of its operations. */
function resultsOf(
  operations: readonly FileOperation[],
  written: readonly WrittenFile[],
): FileOperationResult[] {
  const revisions = new Map(written.map(({ path, revision }) => [path, revision]))
  return operations.map((operation) => {
    const path = operation.op === 'move' ? operation.to : operation.path
    return { op: operation.op, path, revision: revisions.get(path) ?? null }
  })
}

function writtenEntry({ path, revision, size, modifiedAt }: WrittenFile): ChangedEntry {
  return { path, kind: 'file', revision, size, modifiedAt: new Date(modifiedAt).toISOString() }
}

function changedEntry({ path, type, revision, size, modifiedAt }: AgentFileEntry): ChangedEntry {
  return {
    path,
    kind: type,
    revision: revision ?? null,
    size: type === 'file' ? size : null,
    modifiedAt: new Date(modifiedAt).toISOString(),
  }
}

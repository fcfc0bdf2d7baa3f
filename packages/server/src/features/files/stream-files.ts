import { maxExportBytes } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import type { ByteRange } from './byte-range.ts'
import { type LiveDirectory, translated, translating } from './live-directory.ts'
import { bytesAfter, openFile } from './read-file-call.ts'

/** A file changes while it is opened for a range at most this often before that is a conflict. */
const openAttempts = 3

/** How often somebody who still reads keeps the workspace from stopping, in milliseconds. */
const touchMilliseconds = 10_000

export interface FileFactsToSend {
  size: number
  revision: string
  /** milliseconds since the epoch */
  modifiedAt: number
}

/** Bytes on their way to a caller. Both throw AppError before the first byte, and while they are read. */
export interface FileStreams {
  stat(scope: WorkspaceScope, path: string): Promise<FileFactsToSend>
  /** `rangeOf` is asked once the size is known; `null`: nothing of it is wanted. */
  read(
    scope: WorkspaceScope,
    path: string,
    options: { rangeOf(file: FileFactsToSend): ByteRange | null; signal: AbortSignal },
  ): Promise<FileFactsToSend & { bytes: AsyncIterable<Uint8Array> | null }>
  export(
    scope: WorkspaceScope,
    options: { format: 'zip' | 'tar.gz'; path: string; gitignore: boolean; signal: AbortSignal },
  ): Promise<AsyncIterable<Uint8Array>>
}

export function createFileStreams({ live }: { live: LiveDirectory }): FileStreams {
  async function stat(client: AgentClient, path: string): Promise<FileFactsToSend> {
    const { type, revision, size, modifiedAt } = await client.call('files.stat', { path, revision: true })
    if (revision === undefined) {
      throw new AppError('INVALID_REQUEST', `${path} is not a file but a ${type}`, {
        details: { reason: type === 'symlink' ? 'LINK_REFUSED' : 'NOT_A_FILE' },
      })
    }
    return { revision, size, modifiedAt }
  }

  return {
    stat: (scope, path) => translating(async () => stat(await live.use(scope, 'reading files'), path)),
    read: (scope, path, { rangeOf, signal }) =>
      translating(async () => {
        const client = await live.use(scope, 'reading files')
        for (let attempt = 0; attempt < openAttempts; attempt += 1) {
          const file = await stat(client, path)
          const range = rangeOf(file)
          if (range === null) return { ...file, bytes: null }
          const length = range.end - range.start
          const opened = await openFile(client, { path, offset: range.start, length }, signal)
          if (opened.revision !== file.revision) opened.close()
          else
            return { ...file, bytes: keepingAwake(opened.bytes, { live, scope, detail: 'sending a file' }) }
        }
        throw new AppError('CONFLICT', `${path} keeps changing while it is read`)
      }),
    export: (scope, { signal, ...params }) =>
      translating(async () => {
        const client = await live.use(scope, 'exporting files')
        const call = client.open('files.export', { ...params, maxBytes: maxExportBytes }, { signal })
        const messages = call.messages[Symbol.asyncIterator]()
        // The first bytes tell that it can be done at all.
        const first = await messages.next()
        const bytes = withFirst(first, bytesAfter(call, messages))
        return keepingAwake(bytes, { live, scope, detail: 'exporting files' })
      }),
  }
}

async function* withFirst(
  first: IteratorResult<{ kind: 'data'; bytes: Uint8Array } | { kind: 'event' }>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done !== true && first.value.kind === 'data') yield first.value.bytes
  yield* rest
}

async function* keepingAwake(
  bytes: AsyncIterable<Uint8Array>,
  { live, scope, detail }: { live: LiveDirectory; scope: WorkspaceScope; detail: string },
): AsyncGenerator<Uint8Array> {
  let touchedAt = performance.now()
  try {
    for await (const part of bytes) {
      yield part
      if (performance.now() - touchedAt < touchMilliseconds) continue
      touchedAt = performance.now()
      live.touch(scope.workspaceId, detail)
    }
  } catch (error) {
    throw translated(error)
  }
}

import type { Data, Query, searchFiles } from '@atelier/contract'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { type LiveDirectory, translating } from './live-directory.ts'

/** Finds a text or a pattern in the files on disk. Throws INVALID_REQUEST for a pattern that is none, and TIMEOUT. */
export type SearchFiles = (
  scope: WorkspaceScope,
  asked: Omit<Query<typeof searchFiles>, 'workspaceId'>,
  signal: AbortSignal,
) => Promise<Data<typeof searchFiles>>

export function createSearchFiles({ live }: { live: LiveDirectory }): SearchFiles {
  return (scope, { glob, ...asked }, signal) =>
    translating(async () => {
      const client = await live.use(scope, 'searching files')
      const params = { ...asked, ...(glob === undefined ? {} : { glob }) }
      return await client.call('files.grep', params, { signal })
    })
}

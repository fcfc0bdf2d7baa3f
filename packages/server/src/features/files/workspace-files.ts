import type { Files } from './files.ts'
import type { LiveDirectory } from './live-directory.ts'

/** The directory where workspaces can be started, else the documents that were imported. */
export function createWorkspaceFiles(dependencies: {
  live: Pick<LiveDirectory, 'obstacle' | 'running'>
  directory: Files
  documents: Files
}): Files {
  const { live, directory, documents } = dependencies
  const source = async () => ((await live.obstacle()) === null ? directory : documents)
  return {
    read: async (scope, request) => (await source()).read(scope, request),
    refusePathConflicts: async (scope, paths) => (await source()).refusePathConflicts(scope, paths),
    // A question about a workspace that sleeps is no reason to wake it: its documents are what its directory was.
    readText: (scope, path) =>
      (live.running(scope.workspaceId) === undefined ? documents : directory).readText(scope, path),
  }
}

import { readFiles } from '@atelier/contract'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { buildFileTree, type FileTree } from './file-tree.ts'

/** Levels asked for at once: the whole tree, so that quick open knows every file. */
const wholeTree = 64

export interface FileTreeState {
  tree: FileTree
  isPending: boolean
  error: unknown
  /** the listing reached the server's limit: deeper directories are read when they are opened */
  truncated: boolean
  refetch: () => void
  /** reads one directory that the whole listing may have left out */
  readDirectory: (path: string) => void
}

/** The files of a workspace: one listing of everything, and single directories where that was cut. */
export function useFileTree(workspaceId: string): FileTreeState {
  const { client } = useServices()
  const [opened, setOpened] = useState<{ workspaceId: string; paths: readonly string[] }>({
    workspaceId,
    paths: [],
  })
  const query = (path: string, depth: number) => ({
    queryKey: ['workspace', workspaceId, 'tree', path, depth],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const read = await client.call(readFiles, { query: { workspaceId, path, depth } }, { signal })
      return read.kind === 'directory' ? read : null
    },
    staleTime: 60_000,
  })
  const whole = useQuery(query('', wholeTree))
  const truncated = whole.data?.truncated === true
  // A cut listing may end before the root's own last entries, so the root is the first directory to read on its own.
  const paths = truncated ? ['', ...(opened.workspaceId === workspaceId ? opened.paths : [])] : []
  const parts = useQueries({
    queries: paths.map((path) => query(path, 1)),
    combine: (results) => results.map(({ data }) => data?.entries ?? []),
  })
  const tree = useMemo(() => buildFileTree([whole.data?.entries ?? [], ...parts]), [whole.data, parts])
  const readDirectory = useCallback(
    (path: string) =>
      setOpened((state) => {
        const known = state.workspaceId === workspaceId ? state.paths : []
        return known.includes(path) ? state : { workspaceId, paths: [...known, path] }
      }),
    [workspaceId],
  )
  return {
    tree,
    isPending: whole.isPending,
    error: whole.error,
    truncated,
    refetch: () => void whole.refetch(),
    readDirectory,
  }
}

import {
  getIndexState,
  getSession,
  listApiKeys,
  listLimits,
  listModels,
  listWorkspaceMembers,
  listWorkspaces,
  readFiles,
} from '@atelier/contract'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { type Services, useServices } from './services.tsx'

/** The reads of the page, each with the key that its changes invalidate. A workspace's reads start with its id. */
export function sessionQuery({ client }: Pick<Services, 'client'>) {
  return queryOptions({
    queryKey: ['session'],
    queryFn: ({ signal }) => client.call(getSession, {}, { signal }),
    staleTime: 5 * 60_000,
  })
}

export function useSession() {
  return useQuery(sessionQuery(useServices()))
}

/** The signed-in person. Only for parts that are shown after sign-in. */
export function useUser() {
  const user = useSession().data?.user
  if (user === undefined) throw new Error('useUser is for parts behind the sign-in')
  return user
}

/** Workspaces of one page of the list: the most the interface gives at once. */
const workspacesListed = 200

export function useWorkspaces() {
  const { client } = useServices()
  return useQuery({
    queryKey: ['workspaces'],
    queryFn: ({ signal }) => client.call(listWorkspaces, { query: { limit: workspacesListed } }, { signal }),
  })
}

export function useWorkspace(workspaceId: string) {
  const workspaces = useWorkspaces()
  return { ...workspaces, data: workspaces.data?.items.find(({ id }) => id === workspaceId) }
}

export function useMembers(workspaceId: string) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['workspace', workspaceId, 'members'],
    queryFn: ({ signal }) => client.call(listWorkspaceMembers, { params: { workspaceId } }, { signal }),
  })
}

/** Asked once and after an import: it counts against the small limit of the AI class. */
export function useIndexState(workspaceId: string) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['workspace', workspaceId, 'index'],
    queryFn: ({ signal }) => client.call(getIndexState, { query: { workspaceId } }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
}

export function useModels() {
  const { client } = useServices()
  return useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => client.call(listModels, {}, { signal }),
    staleTime: 5 * 60_000,
  })
}

export function useApiKeys() {
  const { client } = useServices()
  return useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => client.call(listApiKeys, {}, { signal }),
  })
}

export function useLimits() {
  const { client } = useServices()
  return useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => client.call(listLimits, {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** One file. Undefined data with `isSuccess` cannot be: a path that names a directory is an error here. */
export function fileQuery({ client }: Pick<Services, 'client'>, workspaceId: string, path: string) {
  return queryOptions({
    queryKey: ['workspace', workspaceId, 'file', path],
    queryFn: async ({ signal }) => {
      const read = await client.call(readFiles, { query: { workspaceId, path } }, { signal })
      if (read.kind !== 'file') throw new Error(`${path} is a folder`)
      return read
    },
    staleTime: 60_000,
  })
}

export function useFile(workspaceId: string, path: string) {
  return useQuery(fileQuery(useServices(), workspaceId, path))
}

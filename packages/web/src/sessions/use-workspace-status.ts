import {
  getWorkspaceStatus,
  listCodeServers,
  listWorkspacePorts,
  type WorkspaceStatus,
} from '@atelier/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../lib/services.tsx'

/** Times between two looks, in milliseconds; a page that is hidden does not look. None of it keeps a workspace running. */
const everyMs = { changing: 1_500, steady: 15_000, ports: 5_000 } as const

/** The state of a workspace's sandbox. */
export function useWorkspaceStatus(workspaceId: string) {
  const { client } = useServices()
  return useQuery({
    queryKey: statusKey(workspaceId),
    queryFn: ({ signal }) => client.call(getWorkspaceStatus, { params: { workspaceId } }, { signal }),
    refetchInterval: ({ state }) => (isChanging(state.data) ? everyMs.changing : everyMs.steady),
  })
}

export function statusKey(workspaceId: string) {
  return ['workspace', workspaceId, 'status']
}

/** What programs of the workspace listen on. */
export function useWorkspacePorts(workspaceId: string) {
  const { client } = useServices()
  return useQuery({
    queryKey: ['workspace', workspaceId, 'ports'],
    queryFn: ({ signal }) => client.call(listWorkspacePorts, { params: { workspaceId } }, { signal }),
    refetchInterval: everyMs.ports,
  })
}

/** The editor session of a workspace, for who may open it. */
export function useCodeServer(workspaceId: string, enabled: boolean) {
  const { client } = useServices()
  return useQuery({
    queryKey: codeServerKey(workspaceId),
    queryFn: ({ signal }) => client.call(listCodeServers, { query: { workspaceId } }, { signal }),
    enabled,
  })
}

export function codeServerKey(workspaceId: string) {
  return ['workspace', workspaceId, 'code-server']
}

function isChanging(status: WorkspaceStatus | undefined): boolean {
  return status?.state === 'starting' || status?.state === 'stopping'
}

import type { SessionState, WorkspaceStatus } from '@atelier/contract'

export const stateWords: Record<SessionState, string> = {
  stopped: 'Stopped',
  starting: 'Starting',
  running: 'Running',
  stopping: 'Stopping',
  failed: 'Failed',
}

const kindWords: Record<WorkspaceStatus['isolation']['kind'], string> = {
  none: 'No isolation: programs run as this server does',
  namespace: 'Linux namespaces',
  container: 'A container',
  gvisor: 'A container on gVisor',
  microvm: 'A small virtual machine',
}

/** What separates the workspace from the machine, as the self-test found it. */
export function isolationWords({ kind, available }: WorkspaceStatus['isolation']): string {
  return available ? kindWords[kind] : 'Workspaces cannot be started on this server'
}

const activityWords: Record<WorkspaceStatus['activity'][number]['kind'], string> = {
  request: 'A request',
  terminal: 'A terminal',
  'foreground-job': 'A program in a terminal',
  command: 'A command',
  editor: 'code-server',
  preview: 'A preview',
}

export function activityName(kind: WorkspaceStatus['activity'][number]['kind']): string {
  return activityWords[kind]
}

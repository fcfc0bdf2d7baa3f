import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenEgress } from './egress-proxy.ts'
import { insidePaths, type SandboxMount } from './sandbox-arguments.ts'
import type { WorkspaceSpec } from './session-runtime.ts'
import type { WorkspaceDirectory } from './workspace-directories.ts'

/** The egress proxy of one session, and its socket as it appears inside. */
export interface WayOut extends AsyncDisposable {
  readonly mounts: SandboxMount[]
}

/** Without egress there is no proxy and nothing to mount. The socket belongs to the workspace's user alone. */
export async function openWayOut(
  openEgress: OpenEgress,
  { egress, workspaceId }: WorkspaceSpec,
  { run, user }: WorkspaceDirectory,
): Promise<WayOut> {
  if (egress === null) return { mounts: [], [Symbol.asyncDispose]: async () => undefined }
  const socketPath = join(run, 'egress.sock')
  const proxy = await openEgress({ socketPath, allow: egress.allow, workspaceId })
  if (process.getuid?.() === 0) await chown(socketPath, user, user)
  return {
    mounts: [{ source: socketPath, target: insidePaths.egress, writable: true }],
    [Symbol.asyncDispose]: () => Promise.resolve(proxy[Symbol.asyncDispose]()),
  }
}

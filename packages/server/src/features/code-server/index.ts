import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpServer } from '../../platform/http/http-server.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { mountCodeServerRoutes } from './code-server-routes.ts'
import { createEditorSessions, type EditorSessions, type EditorSessionsOptions } from './editor-sessions.ts'

export type { EditorSessions } from './editor-sessions.ts'

/** Milliseconds without activity after which a session stops: it takes some 300 MB and starts in a second. */
const idleMilliseconds = 15 * 60_000

/** Mounts editor sessions; the content server asks the result for what it serves. */
export function codeServerFeature(
  dependencies: Omit<EditorSessionsOptions, 'installed' | 'idleMilliseconds'> & {
    http: HttpServer
    guard: WorkspaceGuard
    /** where `npm run install:code-server` puts it; looked at again each time */
    installation: string
  },
): EditorSessions {
  const { http, guard, installation } = dependencies
  const installed = () => existsSync(join(installation, 'installed.json'))
  const editors = createEditorSessions({ ...dependencies, idleMilliseconds, installed })
  mountCodeServerRoutes({ http, guard, editors })
  return editors
}

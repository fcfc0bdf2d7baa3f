import type { HttpServer } from '../../platform/http/http-server.ts'
import type { ContentNames } from '../../platform/proxied/content-names.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { mountPreviewRoutes } from './preview-routes.ts'
import { createPreviews, type Previews, type RunningWorkspaces } from './previews.ts'

/** Mounts the list of ports; the content server asks the result for what it serves. */
export function previewsFeature(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  sessions: RunningWorkspaces
  names: ContentNames
}): Previews {
  const previews = createPreviews(dependencies)
  mountPreviewRoutes({ ...dependencies, previews })
  return previews
}

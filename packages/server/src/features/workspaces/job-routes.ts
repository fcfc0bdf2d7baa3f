import {
  cancelWorkspaceJob,
  getWorkspaceJob,
  type Job,
  listWorkspaceJobs,
  watchWorkspaceJob,
} from '@atelier/contract'
import { guardAgainMilliseconds, whileAllowed } from '../../base/while-allowed.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount, mountEvents } from '../../platform/http/mount.ts'
import type { JobQueue } from '../../platform/jobs/job-queue.ts'
import type { WorkspaceGuard } from './workspace-guard.ts'

export function mountJobRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  jobs: JobQueue
}): void {
  const { http, guard, jobs } = dependencies
  mount(http, listWorkspaceJobs, async ({ principal, params, query }) =>
    jobs.list(await guard(principal, params.workspaceId, 'viewer'), query),
  )
  mount(http, getWorkspaceJob, async ({ principal, params }) =>
    jobs.get(await guard(principal, params.workspaceId, 'viewer'), params.jobId),
  )
  mount(http, cancelWorkspaceJob, async ({ principal, params }) =>
    jobs.cancel(await guard(principal, params.workspaceId, 'editor'), params.jobId),
  )
  mountEvents(http, watchWorkspaceJob, async ({ principal, params, signal }) => {
    const enter = () => guard(principal, params.workspaceId, 'viewer')
    const scope = await enter()
    await jobs.get(scope, params.jobId)
    const changes = jobs.watch(scope, params.jobId, AbortSignal.any([signal, http.closing]))
    return { events: asEvents(whileAllowed(changes, enter, guardAgainMilliseconds)) }
  })
}

async function* asEvents(jobs: AsyncIterable<Job>): AsyncGenerator<{ data: Job }> {
  for await (const data of jobs) yield { data }
}

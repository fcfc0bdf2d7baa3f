import { AppError } from '../../base/app-error.ts'
import { grantWorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { JobQueue } from '../../platform/jobs/job-queue.ts'
import { ProviderError } from '../../platform/models/provider-error.ts'
import type { Retrieval } from './index.ts'
import type { RetrievalLogger } from './retrieval-logger.ts'

/** How often all workspaces are looked at: what a failed job has left is tried again this much later. */
const sweepMilliseconds = 3_600_000

/** Gives chunks without a vector of the present embedder theirs, as jobs. Disposing ends the looking. */
export interface Reembedding extends AsyncDisposable {
  /** Looks at all workspaces now: the configured embedder may be another than at the last start. */
  start(): void
}

export function createReembedding(dependencies: {
  jobs: Pick<JobQueue, 'handle' | 'enqueueOnce'>
  retrieval: Pick<Retrieval, 'reembed' | 'onUnembedded' | 'unembeddedWorkspaces'>
  logger: RetrievalLogger
}): Reembedding {
  const { jobs, retrieval, logger } = dependencies
  let timer: NodeJS.Timeout | undefined
  let sweeping = Promise.resolve()
  const stopping = new AbortController()

  jobs.handle({
    kind: 'reembed',
    unit: 'chunks',
    async run({ scope, signal, progress }) {
      progress({ phase: 'Embedding', done: 0 })
      try {
        const { embedded } = await retrieval.reembed(scope, { signal, onProgress: progress })
        progress({ phase: 'Done' })
        return { embedded }
      } catch (error) {
        throw error instanceof ProviderError && error.kind === 'transient'
          ? new AppError('SERVICE_UNAVAILABLE', error.message, { cause: error })
          : error
      }
    },
  })
  retrieval.onUnembedded((workspaceId) => {
    request(workspaceId).catch((error) =>
      logger.warn({ err: error, workspaceId }, 'a re-embedding was not queued'),
    )
  })

  const request = (workspaceId: string) =>
    jobs.enqueueOnce(grantWorkspaceScope({ workspaceId, userId: null, role: 'editor' }), {
      kind: 'reembed',
      input: {},
      phase: 'Waiting',
    })

  async function sweep(): Promise<void> {
    try {
      for await (const workspaceId of retrieval.unembeddedWorkspaces(stopping.signal))
        await request(workspaceId)
    } catch (error) {
      if (!stopping.signal.aborted)
        logger.warn({ err: error }, 'workspaces without vectors could not be looked up')
    }
  }

  return {
    start() {
      sweeping = sweep()
      timer = setInterval(() => {
        sweeping = sweeping.then(sweep)
      }, sweepMilliseconds).unref()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stopping.abort()
      await sweeping
    },
  }
}

import { Agent } from 'undici'
import { createLightFetch } from './light-fetch.ts'

export interface PooledFetch extends AsyncDisposable {
  readonly fetch: typeof globalThis.fetch
}

/** Above this no provider needs to think before it accepts a connection. */
const connectMilliseconds = 10_000
/** Providers' balancers close idle connections after 60 seconds or more. */
const keepAliveMilliseconds = 30_000

/** Bytes of one answer: far beyond what a model can write, and little enough to hold. */
const longestAnswerBytes = 64 * 1024 * 1024

/**
 * `fetch` over kept-alive connections: one bounded pool an origin, which undici's Agent keeps by itself. Waiting for
 * headers and between chunks is bounded by `longestAnswerMilliseconds` only: the stream guard watches the finer limits.
 */
export function createPooledFetch(options: {
  connections: number
  longestAnswerMilliseconds: number
}): PooledFetch {
  const agent = new Agent({
    connections: options.connections,
    pipelining: 1,
    connect: { timeout: connectMilliseconds },
    keepAliveTimeout: keepAliveMilliseconds,
    headersTimeout: options.longestAnswerMilliseconds,
    bodyTimeout: options.longestAnswerMilliseconds,
    maxResponseSize: longestAnswerBytes,
  })
  return {
    fetch: createLightFetch(agent),
    async [Symbol.asyncDispose]() {
      await agent.destroy()
    },
  }
}

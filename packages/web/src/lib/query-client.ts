import { ApiError } from '@atelier/client'
import { QueryClient } from '@tanstack/react-query'

/** Attempts after the first for a read that failed in passing. */
const mostRetries = 2

/** Reads are retried only where a second attempt can differ; a 429 is shown with its wait instead. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        networkMode: 'always',
        retry: (failures, error) => failures < mostRetries && isPassing(error),
        retryDelay: (failures) => 400 * 2 ** failures,
      },
      mutations: { networkMode: 'always' },
    },
  })
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE', 'TIMEOUT'].includes(error.code)
}

import { ApiError, type Client } from '@atelier/client'
import type { EndpointShape } from '@atelier/contract'

export interface ClientWatcher {
  /** an endpoint that needs a credential was refused: the session has ended */
  onSignedOut(): void
  onReached(): void
  onUnreachable(): void
}

/** The client, telling of every call whether the server was reached and whether the session still stands. */
export function watchClient(client: Client, watcher: ClientWatcher): Client {
  async function watched<Result>(endpoint: EndpointShape, action: () => Promise<Result>): Promise<Result> {
    try {
      const result = await action()
      watcher.onReached()
      return result
    } catch (error) {
      tell(endpoint, error)
      throw error
    }
  }

  function tell(endpoint: EndpointShape, error: unknown): void {
    if (!(error instanceof ApiError)) return
    if (error.code === 'NETWORK_ERROR') watcher.onUnreachable()
    else watcher.onReached()
    if (error.code === 'UNAUTHORIZED' && endpoint.access !== 'public') watcher.onSignedOut()
  }

  async function* watchedEvents<Event>(endpoint: EndpointShape, events: AsyncIterable<Event>) {
    try {
      yield* events
    } catch (error) {
      tell(endpoint, error)
      throw error
    }
  }

  return {
    call: (endpoint, ...rest) => watched(endpoint, () => client.call(endpoint, ...rest)),
    async stream(endpoint, ...rest) {
      const { headers, events } = await watched(endpoint, () => client.stream(endpoint, ...rest))
      return { headers, events: watchedEvents(endpoint, events) }
    },
    raw: (endpoint, ...rest) => watched(endpoint, () => client.raw(endpoint, ...rest)),
  }
}

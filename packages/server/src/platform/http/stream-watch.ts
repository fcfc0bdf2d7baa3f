import type { ServerResponse } from 'node:http'
import { AppError } from '../../base/app-error.ts'
import type { Principal } from '../identity/principal.ts'
import { failureFrame } from './event-stream.ts'

/** Most open event streams of one user: what tabs and programs listen to. Answers of models have limits of their own. */
export const maxEventStreamsPerUser = 100

/** What was allowed when a stream began is looked at again this often, as for sockets. */
const checkMilliseconds = 10_000

/** Ends event streams whose credential has ended since: a stream lives longer than the check of its request. */
export interface StreamWatch extends Disposable {
  add(principal: Principal, response: ServerResponse): void
  /** Counts a stream until it closes. Throws RATE_LIMITED where its user has too many. */
  admit(principal: Principal, response: ServerResponse): void
}

export function createStreamWatch(options: {
  /** whether a credential still holds */
  stillValid(principal: Principal): Promise<boolean>
  logger: { warn(fields: object, message: string): void }
}): StreamWatch {
  const open = new Map<ServerResponse, Principal>()
  const listening = new Map<ServerResponse, string>()
  const told = new WeakSet<ServerResponse>()
  let checking = false

  const timer = setInterval(async () => {
    // A database that answers slowly is not asked again meanwhile.
    if (checking) return
    checking = true
    const streams = [...open].filter(([response]) => isEventStream(response))
    await Promise.all(streams.map(([response, principal]) => check(response, principal)))
    checking = false
  }, checkMilliseconds).unref()

  async function check(response: ServerResponse, principal: Principal): Promise<void> {
    try {
      if (await options.stillValid(principal)) return
      // Who does not read it is cut off at the next check.
      if (told.has(response)) response.destroy()
      else response.write(failureFrame('UNAUTHORIZED', 'You have been signed out'), () => response.destroy())
      told.add(response)
    } catch (error) {
      // The database does not answer: new requests fail closed; what is open waits for the next check.
      options.logger.warn({ err: error }, 'what is behind an open stream could not be checked')
    }
  }

  return {
    add(principal, response) {
      if (response.destroyed) return
      open.set(response, principal)
      response.once('close', () => open.delete(response))
    },
    admit({ userId }, response) {
      // Who has left meanwhile has no end any more that could be heard.
      if (response.destroyed) return
      const own = [...listening.values()].filter((other) => other === userId)
      if (own.length >= maxEventStreamsPerUser)
        throw new AppError(
          'RATE_LIMITED',
          `More than ${maxEventStreamsPerUser} open event streams of one user`,
        )
      listening.set(response, userId)
      response.once('close', () => listening.delete(response))
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

function isEventStream(response: ServerResponse): boolean {
  return response.headersSent && String(response.getHeader('content-type')).startsWith('text/event-stream')
}

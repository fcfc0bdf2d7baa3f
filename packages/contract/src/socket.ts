import type { z } from 'zod'
import type { Scope } from './endpoint.ts'

/** A WebSocket endpoint. Its messages are schemas of their own, in the file of its area. */
export interface SocketShape {
  name: string
  path: string
  tag: string
  summary: string
  /** what an API key needs; any other credential of a person will do */
  scope: Scope
  query: z.ZodType
  /** largest message from a client, in bytes */
  maxMessageBytes: number
}

/** Declares a socket: keeps the literal types. */
export function socket<const Definition extends SocketShape>(definition: Definition): Definition {
  return definition
}

/** Why the server closes a socket, with a reason in words: standard codes, and some of the private range. */
export const socketCloseCodes = {
  /** RFC 6455: what the socket was about has come to its end */
  done: 1000,
  /** RFC 6455: the server is stopping; connect again */
  goingAway: 1001,
  /** RFC 6455: a message breaks the protocol or its limits */
  policyViolation: 1008,
  /** RFC 6455: a message is larger than the socket takes */
  tooLarge: 1009,
  /** RFC 6455: the server failed */
  internalError: 1011,
  /** the credential no longer holds */
  signedOut: 4401,
  /** the caller may no longer do what the socket does, such as after leaving a workspace */
  forbidden: 4403,
  /** what the socket was about is gone */
  gone: 4404,
  /** a client that read too slowly for too long */
  tooSlow: 4408,
} as const

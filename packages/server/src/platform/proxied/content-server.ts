import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WorkspaceRole } from '@atelier/contract'
import { AppError, notFound } from '../../base/app-error.ts'
import type { Principal } from '../identity/principal.ts'
import type { WorkspaceScope } from '../identity/workspace-scope.ts'
import { type ContentAccess, createContentAccess } from './content-access.ts'
import { createContentEntry } from './content-entry.ts'
import { inboundHeaders } from './content-headers.ts'
import type { ContentName, ContentNames } from './content-names.ts'
import { fromOwnPage, isNavigation } from './content-origin.ts'
import { refuseRequest, refuseUpgrade } from './content-page.ts'
import type { ContentHolder, ContentPasses } from './content-pass.ts'
import { forwardRequest } from './forward-request.ts'
import { forwardUpgrade } from './forward-upgrade.ts'

/** Open sockets of one user in previews and editors: a workbench has 2 to 4, a page with live reload one. */
export const maxContentSocketsPerUser = 200

/** What was allowed when a socket was opened or an answer began is looked at again this often, in milliseconds. */
const checkMilliseconds = 10_000

/** One program in a workspace that is served. */
export interface ContentTarget {
  readonly workspaceId: string
  readonly least: WorkspaceRole
  /** whether the program has no use for an Authorization header */
  readonly stripAuthorization: boolean
  /** A connection to it. Throws AppError with words for the person where nothing answers. */
  connect(): Promise<Duplex>
  /** A request came, or bytes of an upgraded connection did. */
  used(traffic: { bytes: number; upgraded: boolean }): void
}

/** `null`: there is no such thing. */
export type FindContent = (name: ContentName) => ContentTarget | null

export interface ContentServerOptions {
  names: ContentNames
  passes: ContentPasses
  baseUrl: string | undefined
  /** `iss` of our tokens */
  issuer: string
  find: FindContent
  guard(principal: Principal, workspaceId: string, role: WorkspaceRole): Promise<WorkspaceScope>
  stillValid(principal: Principal): Promise<boolean>
  /** The address that a request without a pass is counted by. */
  addressOf(request: IncomingMessage): string
  /** Counts a request; throws RATE_LIMITED. `caller` is a user, or an address before the pass is read. */
  limit(caller: string): void
  logger: { error(fields: object, message: string): void; warn(fields: object, message: string): void }
  checkMilliseconds?: number | undefined
}

/** Serves what programs in workspaces say, each under a host name of its own, to who may reach it. */
export interface ContentServer extends AsyncDisposable {
  /** Requests and upgrades whose Host is below the content domain: all of them, and none of ours. */
  matches(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

interface Admitted {
  label: string
  origin: string
  target: ContentTarget
  holder: ContentHolder
}

export function createContentServer(options: ContentServerOptions): ContentServer {
  const { names, find } = options
  const access = createContentAccess(options)
  const entry = createContentEntry(options)
  const open = new Map<Duplex, Admitted>()
  const answers = new Map<ServerResponse, Admitted>()
  let checking = false
  const check = setInterval(async () => {
    // A database that answers slowly is not asked again meanwhile.
    if (checking) return
    checking = true
    await endRevoked([...open, ...answers], access, options)
    checking = false
  }, options.checkMilliseconds ?? checkMilliseconds)
  check.unref()

  function targetOf(request: IncomingMessage): { label: string; origin: string; target: ContentTarget } {
    const label = names.labelOfHost(request.headers.host)
    const name = label === null ? null : names.nameOf(label)
    const origin = label === null ? null : names.originOf(label, loopbackHostOf(request))
    const target = name && find(name)
    if (label === null || !target || origin === null) throw notFound('What this address names')
    return { label, origin, target }
  }

  /** Throws what stands in the way; `null` where the browser has no pass. */
  async function admit(request: IncomingMessage): Promise<Admitted | null> {
    const label = names.labelOfHost(request.headers.host)
    const holder = label === null ? null : entry.holderOf(request, label)
    options.limit(holder ? `user ${holder.userId}` : `address ${options.addressOf(request)}`)
    // Nobody without a pass learns what exists.
    if (!holder) return null
    const found = targetOf(request)
    await access.check(holder, found.target)
    return { ...found, holder }
  }

  function passedHeaders(request: IncomingMessage, { origin, target }: Admitted): string[] {
    return inboundHeaders(request.rawHeaders, {
      host: request.headers.host ?? '',
      scheme: origin.startsWith('https:') ? 'https' : 'http',
      issuer: options.issuer,
      stripAuthorization: target.stripAuthorization,
    })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await entry.handle(request, response)) return
    const admitted = await admit(request)
    if (!admitted) {
      if (isNavigation(request)) return entry.sendToSignIn(request, response)
      throw new AppError('UNAUTHORIZED', 'Open this address in the browser where you are signed in')
    }
    if (!fromOwnPage(request, admitted.origin)) throw foreignPage()
    // Who has left while it was checked has no end any more that could be heard.
    if (response.destroyed) return
    answers.set(response, admitted)
    response.once('close', () => answers.delete(response))
    const { target } = admitted
    target.used({ bytes: 0, upgraded: false })
    const connection = await target.connect()
    await forwardRequest(
      {
        incoming: request,
        headers: passedHeaders(request, admitted),
        connection,
        frameAncestor: entry.appOrigin(request),
      },
      response,
    ).catch((cause: unknown) => {
      throw new AppError('PROVIDER_ERROR', 'The program ended the connection before it answered', { cause })
    })
  }

  return {
    matches: (request) => names.labelOfHost(request.headers.host) !== null,
    async handle(request, response) {
      try {
        await answer(request, response)
      } catch (error) {
        refuseRequest(request, response, error, options.logger)
      }
    },
    async upgrade(request, socket, head) {
      try {
        const admitted = await admit(request)
        if (!admitted) throw new AppError('UNAUTHORIZED', 'Open this address in the browser first')
        // A browser always names the page that opens a socket; nobody else has a pass.
        if (request.headers.origin !== admitted.origin) throw foreignPage()
        const { holder, target } = admitted
        const own = [...open.values()].filter((other) => other.holder.userId === holder.userId)
        if (own.length >= maxContentSocketsPerUser)
          throw new AppError('RATE_LIMITED', `More than ${maxContentSocketsPerUser} open sockets of one user`)
        if (socket.destroyed) return
        open.set(socket, admitted)
        socket.once('close', () => open.delete(socket))
        const connection = await target.connect()
        const headers = passedHeaders(request, admitted)
        await forwardUpgrade({ incoming: request, headers, socket, head, connection })
        socket.on('data', (chunk: Buffer) => target.used({ bytes: chunk.length, upgraded: true }))
      } catch (error) {
        refuseUpgrade(socket, error, options.logger)
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(check)
      for (const socket of open.keys()) socket.destroy()
    },
  }
}

/** Where the content domain is below `localhost`, its port is the one the browser came to. */
function loopbackHostOf({ headers }: IncomingMessage): string {
  return `localhost${/:\d+$/.exec(headers.host ?? '')?.[0] ?? ''}`
}

function foreignPage(): AppError {
  return new AppError('FORBIDDEN', 'Another page asks for this; only pages of this very address may')
}

async function endRevoked(
  open: readonly [Duplex | ServerResponse, Admitted][],
  access: ContentAccess,
  { logger }: ContentServerOptions,
): Promise<void> {
  for (const [connection, { holder, target }] of open) {
    try {
      await access.check(holder, target)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'SERVICE_UNAVAILABLE')
        logger.warn({ err: error }, 'the right to an open connection could not be checked')
      else connection.destroy()
    }
  }
}

import { enterContent } from '@atelier/contract'
import { notFound } from '../../base/app-error.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mountRaw } from '../../platform/http/mount.ts'
import { redeemingAddress } from '../../platform/proxied/content-entry.ts'
import type { ContentNames } from '../../platform/proxied/content-names.ts'
import type { ContentPasses } from '../../platform/proxied/content-pass.ts'
import type { FindContent } from '../../platform/proxied/content-server.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'

/** The platform's end of the exchange that lets a browser in at a content host. */
export function mountContentRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  names: ContentNames
  passes: ContentPasses
  find: FindContent
}): void {
  const { http, guard, names, passes, find } = dependencies
  mountRaw(http, enterContent, async ({ principal, query, request }, reply) => {
    const name = names.nameOf(query.name)
    const target = name && find(name)
    if (!name || !target || principal.kind !== 'cookie') throw notFound('What this address names')
    await guard(principal, target.workspaceId, target.least)
    const label = names.labelOf(name)
    const origin = names.originOf(label, request.headers.host)
    if (origin === null) throw notFound('A host name for this address')
    const { userId, sessionId } = principal
    const ticket = passes.issueTicket({ userId, sessionId, label }, query.binding)
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
    reply.redirect(redeemingAddress(origin, ticket, query.next), 302)
  })
}

import { createApiKey, deleteApiKey, listApiKeys } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import type { ApiKeys } from './api-keys.ts'

export function mountApiKeyRoutes({ http, apiKeys }: { http: HttpServer; apiKeys: ApiKeys }): void {
  mount(http, createApiKey, (call) => {
    call.setHeader('cache-control', 'no-store')
    return apiKeys.create(call.principal.userId, call.body)
  })

  mount(http, listApiKeys, async ({ principal }) => ({
    items: await apiKeys.list(principal.userId),
    nextCursor: null,
  }))

  mount(http, deleteApiKey, async ({ principal, params: { apiKeyId } }) => {
    await apiKeys.revoke(principal.userId, apiKeyId)
    return { id: apiKeyId }
  })
}

import { type BreakerState, listModels, listProviderHealth, type ProviderHealth } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount } from '../../platform/http/mount.ts'
import { hostedProviders } from '../../platform/models/providers.ts'
import type { CallRouter } from './call-router.ts'
import type { ModelSource } from './model-source.ts'

export function mountGatewayRoutes(dependencies: {
  http: HttpServer
  models: ModelSource
  router: CallRouter
}): void {
  const { http, models, router } = dependencies
  mount(http, listModels, () => models.freshCatalog())
  mount(http, listProviderHealth, async () => {
    const { providers } = await models.freshCatalog()
    const items = providers.map(({ id, name, available }) => {
      return { id, name, configured: available, keyVariable: keyVariableOf(id), ...healthOf(id, router) }
    })
    return { items, nextCursor: null }
  })
}

function keyVariableOf(provider: string): string | null {
  return hostedProviders.find(({ id }) => id === provider)?.keyVariable ?? null
}

type CallHealth = Omit<ProviderHealth, 'id' | 'name' | 'configured' | 'keyVariable'>

function healthOf(provider: string, router: CallRouter): CallHealth {
  const breakers = router.breakers(provider)
  const statistics = router.statistics(provider)
  const calls = breakers.reduce((sum, one) => sum + one.calls, 0)
  const failures = breakers.reduce((sum, one) => sum + one.failures, 0)
  return {
    keys: router.keysOf(provider),
    breaker: worst(breakers.map((one) => one.breaker)),
    models: breakers.map(({ model, keyNumber, breaker, retryInMs }) => {
      return { model, keyNumber, breaker, retryInMs }
    }),
    calls,
    failures,
    errorRate: calls === 0 ? null : failures / calls,
    latency: statistics.percentiles(),
    lastError: statistics.lastError(),
  }
}

function worst(states: readonly BreakerState[]): BreakerState {
  return states.find((state) => state === 'open') ?? states.find((state) => state === 'half-open') ?? 'closed'
}

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { parseModelFallbacks } from '../../platform/models/model-fallbacks.ts'
import { parseModelLimits } from '../../platform/models/model-limits.ts'
import type { ModelsEnvironment } from '../../platform/models/models-environment.ts'
import { createCallRouter } from './call-router.ts'
import type { ChargedEmbedder } from './charged-embedder.ts'
import { dearestRates } from './dearest-rates.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { mountGatewayRoutes } from './gateway-routes.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { LedgerReports } from './ledger-reports.ts'
import { createLedgerStore } from './ledger-store.ts'
import { createModelRates } from './model-rates.ts'
import type { ModelSource } from './model-source.ts'
import { mountOpenAiRoutes } from './openai-routes.ts'
import { mountUsageRoutes } from './usage-routes.ts'

export type {
  AnswerEvent,
  AnswerPart,
  AnswerRequest,
  ModelPrompt,
  StreamedAnswer,
  ToolCall,
  WholeAnswer,
} from './answer.ts'
export { createChargedEmbedder } from './charged-embedder.ts'
export type { Gateway } from './gateway.ts'
export type { ModelChoice, ModelQuery } from './model-choice.ts'
export type { ModelSource } from './model-source.ts'

/** Longest time for an answer that is sent whole, in milliseconds: clients and proxies give up at five minutes. */
const wholeAnswerMilliseconds = 300_000

/** Who pays for what, and what is told of it. */
export interface OpenLedger extends AsyncDisposable {
  readonly ledger: Ledger
  readonly reports: LedgerReports
}

/** Disposing writes the usage that is not written yet: after the last answer, before the database closes. */
export function openLedger(dependencies: {
  database: Database
  models: Pick<ModelSource, 'catalog'>
  logger: Logger
  clock: Clock
}): OpenLedger {
  const { database, models, logger, clock } = dependencies
  const store = createLedgerStore({ database })
  const cautiousRates = () => dearestRates(models.catalog().models)
  const ledger = createLedger({ store, cautiousRates, clock, logger })
  return { ledger, reports: store, [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose]() }
}

/** Mounts models, provider health, usage and budgets, and gives the gateway that every feature asks models through. */
export function gatewayFeature(dependencies: {
  http: HttpServer
  models: ModelSource
  environment: ModelsEnvironment
  ledger: OpenLedger
  /** of `/v1/embeddings` */
  embedder: ChargedEmbedder
  logger: Logger
  clock: Clock
}): Gateway {
  const { http, models, environment, ledger, embedder, logger, clock } = dependencies
  const rates = createModelRates({ limits: parseModelLimits(environment.MODEL_LIMITS), clock })
  const router = createCallRouter({ keysOf: models.keysOf, rates, clock })
  mountGatewayRoutes({ http, models, router })
  mountUsageRoutes({ http, reports: ledger.reports, ledger: ledger.ledger, clock })
  const gateway = createGateway({
    models,
    router,
    fallbacks: parseModelFallbacks(environment.MODEL_FALLBACKS),
    limits: {
      // One model that never begins leaves as much time for the next.
      firstContent: environment.MODEL_FIRST_TOKEN_TIMEOUT_SECONDS * 2_000,
      wholeAnswer: Math.min(wholeAnswerMilliseconds, environment.MODEL_TOTAL_TIMEOUT_SECONDS * 1_000),
    },
    ledger: ledger.ledger,
    logger,
  })
  mountOpenAiRoutes({ http, gateway, models, embedder })
  return gateway
}

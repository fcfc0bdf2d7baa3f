import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock } from './base/clock.ts'
import { authFeature, createIdentity } from './features/auth/index.ts'
import { chatFeature, openConversations } from './features/chat/index.ts'
import { codeServerFeature } from './features/code-server/index.ts'
import { contentFeature } from './features/content/index.ts'
import { createFileParts, createPrepareDirectory, filesFeature } from './features/files/index.ts'
import { createChargedEmbedder, gatewayFeature, openLedger } from './features/gateway/index.ts'
import { healthFeature } from './features/health/index.ts'
import { pageFeature } from './features/page/index.ts'
import { previewsFeature } from './features/previews/index.ts'
import {
  createHashedEmbedder,
  createReembedding,
  createRetrieval,
  describeReason,
  languageOf,
  retrievalFeature,
} from './features/retrieval/index.ts'
import { serviceFeature } from './features/service/index.ts'
import { createWorkspaceSessions, mountSessionRoutes } from './features/sessions/index.ts'
import { terminalFeature } from './features/terminal/index.ts'
import { createFindOwner, createWorkspaceGuard, workspacesFeature } from './features/workspaces/index.ts'
import { limitsInForce, probesPerMinute, staticRequestsPerMinute } from './limits.ts'
import type { Config } from './platform/config/config.ts'
import { openDatabase } from './platform/db/database.ts'
import { openMongo } from './platform/db/mongo.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { createSocketTickets } from './platform/http/socket-tickets.ts'
import { createSockets } from './platform/http/sockets.ts'
import { loadInstallationSecret } from './platform/identity/installation-secret.ts'
import { createJobQueue } from './platform/jobs/job-queue.ts'
import { loadNodeId } from './platform/jobs/node-id.ts'
import { createModels, type Models } from './platform/models/models.ts'
import { createContentNames } from './platform/proxied/content-names.ts'
import { obstacleOf } from './platform/runtime/obstacle.ts'
import { configuredRuntime, configuredSpec } from './sandboxes.ts'

/** Version of the service, as `package.json` has it. */
export const version = '0.1.0'

export interface App extends AsyncDisposable {
  readonly http: HttpServer
  /** what a person wants to know at start, one fact a line; looks for model servers for half a second at most */
  summary(): Promise<readonly string[]>
}

/** The composition: every part and every feature, in order. Parts close in the reverse order. */
export async function createApp(
  config: Config,
  base: { logger: Logger; clock: Clock; validateAnswers: boolean },
): Promise<App> {
  const { logger, clock } = base
  await using stack = new AsyncDisposableStack()
  const database = stack.use(
    await openDatabase({
      databaseUrl: config.databaseUrl,
      dataDirectory: join(config.dataDirectory, 'database'),
      templateDirectory: join(import.meta.dirname, '../../../node_modules/.cache/atelier'),
      logger,
    }),
  )
  const secret = await loadInstallationSecret({
    configured: config.secret,
    dataDirectory: config.dataDirectory,
  })
  const identity = createIdentity({
    database,
    secret,
    baseUrl: config.baseUrl,
    clock,
    logger,
  })
  const models = stack.use(createModels({ environment: config.models, clock, logger }))
  const ledger = stack.use(openLedger({ database, models, logger, clock }))
  const mongo = config.mongodbUri === undefined ? undefined : stack.use(await openMongo(config.mongodbUri))
  const conversations = stack.use(await openConversations({ database, mongo, logger }))
  const names = createContentNames({ domain: config.previewDomain, baseUrl: config.baseUrl })
  const http = stack.use(
    createHttpServer({
      frameSource: names.source,
      baseUrl: config.baseUrl,
      host: config.host,
      trustProxy: config.trustProxy,
      rateLimits: { ...config.rateLimits, probe: probesPerMinute, static: staticRequestsPerMinute },
      stagingDirectory: join(config.dataDirectory, 'staging'),
      authenticate: identity.authenticate,
      stillValid: identity.stillValid,
      logger,
      clock,
      validateAnswers: base.validateAnswers,
    }),
  )
  const tickets = createSocketTickets({ clock })
  const sockets = stack.use(
    createSockets({
      authenticate: identity.authenticate,
      redeemTicket: tickets.redeem,
      stillValid: identity.stillValid,
      origins: http.origins,
      logger,
    }),
  )
  http.app.server.on('upgrade', sockets.upgrade)
  const guard = createWorkspaceGuard({ database })
  authFeature({ http, identity, tickets })
  const node = await loadNodeId(config.dataDirectory)
  const runtime = stack.use(configuredRuntime(config, { users: identity.users, clock, logger }))
  const sessions = stack.use(
    createWorkspaceSessions({
      database,
      runtime,
      specOf: configuredSpec(config),
      prepare: createPrepareDirectory({ database, node }),
      idleMilliseconds: config.workspaces.idleMilliseconds,
      clock,
      logger,
    }),
  )
  mountSessionRoutes({ http, guard, sessions })
  const previews = previewsFeature({ http, guard, sessions, names })
  const editors = stack.use(
    codeServerFeature({
      http,
      guard,
      sessions,
      names,
      installation: config.workspaces.codeServerDirectory,
      clock,
      logger,
    }),
  )
  stack.use(
    contentFeature({
      http,
      sockets,
      identity,
      guard,
      names,
      secret,
      find: (name) =>
        name.kind === 'port' ? previews.target(name.workspaceId, name.port) : editors.target(name.sessionId),
    }),
  )
  const embedder = models.embedder ?? createHashedEmbedder()
  const charged = createChargedEmbedder({ embedder, ledger: ledger.ledger })
  const gateway = gatewayFeature({
    http,
    models,
    environment: config.models,
    ledger,
    embedder: charged,
    logger,
    clock,
  })
  const findOwner = createFindOwner({ database })
  const retrieval = stack.use(
    createRetrieval({
      database,
      embedder,
      embed: async (scope, ...call) => {
        // The keyless embedder costs nothing, and every search would be an entry.
        if (models.embedder === undefined) return await embedder.embed(...call)
        const userId = scope.userId ?? (await findOwner(scope))
        const owner = { userId, workspaceId: scope.workspaceId, apiKeyId: scope.apiKeyId ?? null }
        return (await charged.embed(owner, ...call)).vectors
      },
      clock,
      logger,
    }),
  )
  const parts = stack.use(
    createFileParts({
      database,
      sessions,
      obstacle: () => obstacleOf(runtime),
      retrieval,
      describeReason,
      languageOf,
      logger,
    }),
  )
  const { files } = parts
  const jobs = stack.use(createJobQueue({ database, node, logger }))
  const reembedding = stack.use(createReembedding({ jobs, retrieval, logger }))
  stack.use(
    await workspacesFeature({
      http,
      database,
      jobs,
      guard,
      users: identity.users,
      sandboxes: sessions,
      ingest: retrieval.ingest,
      refusePathConflicts: files.refusePathConflicts,
      target: parts.imports,
      egress: config.workspaces.egress,
      dataDirectory: config.dataDirectory,
      logger,
    }),
  )
  stack.use(terminalFeature({ http, sockets, guard, sessions, clock, logger }))
  filesFeature({ http, guard, parts })
  retrievalFeature({ http, guard, retrieval, files, target: parts.imports, changes: parts.indexing })
  chatFeature({
    http,
    conversations,
    gateway,
    guard,
    logger,
    retrieval,
    files,
    toolSources: parts.look,
  })
  healthFeature({ http, database })
  serviceFeature({ http, version, limits: limitsInForce(config) })
  pageFeature({ http, pageDirectory: join(import.meta.dirname, '../../web/dist') })
  await jobs.start()
  reembedding.start()
  const owned = stack.move()
  return { http, summary: () => summaryOf(models), [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function summaryOf(models: Models): Promise<string[]> {
  const { providers } = await models.freshCatalog()
  const found = providers
    .filter((provider) => provider.available && provider.models.some(({ key }) => key !== 'local'))
    .map(({ name, models: { length } }) => `${name} (${length})`)
  return found.length > 0
    ? [`Models: ${found.join(', ')}, and the built-in \`local\``]
    : [
        'Models: only the built-in `local`, which quotes code; docs/guides/configure.md names the keys that add others',
      ]
}

import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type Client, type ClientEvent, createClient, type EventStream } from '@atelier/client'
import type { ModelCatalog, ModelRecord } from '@atelier/contract'
import { type DatabaseEngine, openTestDatabase } from '@atelier/testkit'
import pino from 'pino'
import { notFound } from '../../base/app-error.ts'
import { createHttpServer } from '../../platform/http/http-server.ts'
import { grantWorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'
import { ModelsEnvironment } from '../../platform/models/models-environment.ts'
import { guardModel } from '../../platform/models/stream-guard.ts'
import { createChargedEmbedder, gatewayFeature, openLedger } from '../gateway/index.ts'
import { chatFeature, openConversations } from './index.ts'
import type { Passage, RetrievedContext } from './workspace-context.ts'

export type Part = LanguageModelV4StreamPart
/** What a model does at one call. */
export type Script = (call: LanguageModelV4CallOptions) => AsyncGenerator<Part>

export const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
export const foreignWorkspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0XYZ'

export const passage: Passage = {
  path: 'src/router.ts',
  startLine: 10,
  endLine: 30,
  content: Array(21).fill('match(path)').join('\n'),
  language: 'typescript',
  contentSha256: 'f'.repeat(64),
}

const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: undefined },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
}

export const finish: Part = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
export const text = (delta: string): Part => ({ type: 'text-delta', id: '0', delta })

/** A usual answer, whose citation is cut into two parts. */
export async function* usualAnswer(): AsyncGenerator<Part> {
  yield text('Routes are matched ')
  yield text('in [src/router.ts:1')
  yield text('2-14].')
  yield finish
}

/** An answer whose stream ends without its completion signal. */
export async function* brokenAnswer(): AsyncGenerator<Part> {
  yield text('Half of ')
  yield text('an answ')
}

// biome-ignore lint/correctness/useYield: it fails before the first part
export async function* refusal(): AsyncGenerator<Part> {
  throw Object.assign(new Error('down'), { statusCode: 500 })
}

/** The chat over HTTP with models that play scripts; everything outside models, workspaces and retrieval is real. */
export interface ChatTestServer extends AsyncDisposable {
  readonly url: string
  /** of the first of the people */
  readonly client: Client
  clientOf(person: string, options?: { admin?: boolean }): Client
  /** by model; `usualAnswer` where there is none */
  readonly scripts: Map<string, Script>
  retrieve: () => Promise<RetrievedContext>
  readonly asked: { model: string; call: LanguageModelV4CallOptions }[]
  readonly logged: Record<string, unknown>[]
  /** everybody has left the workspace */
  left: boolean
}

const noCapabilities = { streaming: true, tools: false, vision: false, reasoning: false, json: false }

const record = (key: string, changes: Partial<ModelRecord> = {}): ModelRecord => ({
  key,
  id: `test/${key}`,
  name: `Model ${key}`,
  provider: 'test',
  family: 'test',
  contextWindow: 32_000,
  maxOutputTokens: 4_000,
  pricing: { input: '1', output: '10', cachedInput: '0.1' },
  capabilities: noCapabilities,
  status: 'active',
  tasks: [],
  available: true,
  ...changes,
})

const records = [
  record('test'),
  record('second'),
  record('local', { pricing: { input: '0', output: '0' }, family: 'atelier', provider: 'atelier' }),
  record('keyless', { available: false, family: 'other', provider: 'other' }),
  record('unpriced', { pricing: null }),
  record('small', { contextWindow: 2_000 }),
  record('tools', { capabilities: { ...noCapabilities, tools: true } }),
  record('tools-small', { capabilities: { ...noCapabilities, tools: true }, contextWindow: 4_000 }),
  record('tools2', { capabilities: { ...noCapabilities, tools: true } }),
]

const catalog = {
  models: records,
  providers: [
    { id: 'test', name: 'Test', available: true },
    { id: 'other', name: 'Other', available: false },
    { id: 'mistral', name: 'Mistral', available: false },
  ],
  recommended: { coding: 'test' },
  recommendedNow: { coding: 'test' },
} as unknown as ModelCatalog

/** Two numbers for a text, which tell its length. */
const tinyEmbedder: Embedder = {
  id: 'test/tiny',
  dimensions: 2,
  lexical: true,
  pricing: null,
  embed: async (texts) => texts.map((one) => new Float32Array([one.length, 0.5])),
}

/** Two people whose conversations are their own; a request says who makes it by the header `x-person`. */
export const people = ['usr_01JD8XQ4ZK3V5N6P7R8S9T0AAA', 'usr_01JD8XQ4ZK3V5N6P7R8S9T0BBB'] as const

export type ChatDatabase = Awaited<ReturnType<typeof openTestDatabase>>

/** A database with two people in it, which several servers may use one after the other. */
export async function openChatDatabase(engine?: DatabaseEngine): Promise<ChatDatabase> {
  const database = await openTestDatabase(engine)
  const users = people.map((id) => ({ id, name: id, email: `${id.toLowerCase()}@example.com` }))
  await database.kysely.insertInto('users').values(users).execute()
  await database.kysely.insertInto('workspaces').values({ id: workspaceId, name: 'w' }).execute()
  return database
}

export async function startChatTestServer(
  database: ChatDatabase,
  environment: Record<string, string> = {},
): Promise<ChatTestServer> {
  await using stack = new AsyncDisposableStack()
  const staging = await mkdtemp(join(tmpdir(), 'chat-'))
  stack.defer(() => rm(staging, { recursive: true, force: true }))
  const logged: Record<string, unknown>[] = []
  const logger = pino({ base: null }, { write: (line) => void logged.push(JSON.parse(line)) })
  const ledger = stack.use(
    openLedger({ database, models: { catalog: () => catalog }, logger, clock: Date.now }),
  )
  const conversations = stack.use(await openConversations({ database, logger }))
  const http = stack.use(
    createHttpServer({
      baseUrl: undefined,
      host: '127.0.0.1',
      trustProxy: false,
      rateLimits: { standard: 1e6, ai: 1e6, upload: 1e6, probe: 1e6, static: 1e6 },
      stagingDirectory: staging,
      authenticate: async ({ headers }) => {
        const userId = String(headers['x-person'] ?? people[0])
        return { kind: 'token', userId, sessionId: 'ses_1', admin: headers['x-admin'] === 'yes' }
      },
      stillValid: async () => true,
      logger,
      clock: Date.now,
      validateAnswers: true,
    }),
  )
  const state = {
    scripts: new Map<string, Script>(),
    retrieve: async (): Promise<RetrievedContext> => ({ passages: [passage], relevanceScore: 'high' }),
    asked: [] as ChatTestServer['asked'],
    left: false,
    logged,
  }
  const models = {
    catalog: () => catalog,
    freshCatalog: async () => catalog,
    find: (key: string) => records.find((one) => one.key === key),
    languageModel: (key: string) => scriptedModel(key, state),
    keysOf: () => 1,
  }
  const gateway = gatewayFeature({
    http,
    models,
    environment: ModelsEnvironment.parse(environment),
    ledger,
    embedder: createChargedEmbedder({ embedder: tinyEmbedder, ledger: ledger.ledger }),
    logger,
    clock: Date.now,
  })
  chatFeature({
    http,
    conversations,
    gateway,
    logger,
    guard: async (principal, id) => {
      if (id !== workspaceId || state.left) throw notFound('Workspace')
      return grantWorkspaceScope({ workspaceId: id, userId: principal.userId, role: 'viewer' })
    },
    retrieval: { contextFor: () => state.retrieve() },
    toolSources: {
      list: async () => [
        { path: 'src/app.ts', bytes: 26 },
        { path: 'src/router.ts', bytes: 400 },
      ],
      grep: async (_scope, { query, limit }) => ({
        matches: Array.from({ length: limit }, (_, index) => ({
          path: 'src/app.ts',
          line: index + 1,
          text: query,
        })),
        truncated: true,
      }),
    },
    files: {
      readText: async (_scope, path) =>
        path === 'src/app.ts'
          ? {
              path,
              content: 'const app = 1\nserve(app)\n',
              language: 'typescript',
              contentSha256: 'e'.repeat(64),
            }
          : null,
    },
  })
  await http.app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(http.app.server.address() as AddressInfo).port}`
  const owned = stack.move()
  return Object.assign(state, {
    url,
    client: createClient({ baseUrl: url, validateAnswers: true }),
    clientOf: (person: string, options: { admin?: boolean } = {}) =>
      createClient({
        baseUrl: url,
        headers: { 'x-person': person, ...(options.admin && { 'x-admin': 'yes' }) },
        validateAnswers: true,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  })
}

function scriptedModel(key: string, state: Pick<ChatTestServer, 'scripts' | 'asked'>): LanguageModelV4 {
  const play = (call: LanguageModelV4CallOptions) => {
    state.asked.push({ model: key, call })
    return (state.scripts.get(key) ?? usualAnswer)(call)
  }
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: key,
    supportedUrls: {},
    async doGenerate(call) {
      let answer = ''
      for await (const part of play(call)) if (part.type === 'text-delta') answer += part.delta
      const finishReason = { unified: 'stop' as const, raw: 'stop' }
      return { content: [{ type: 'text', text: answer }], finishReason, usage, warnings: [] }
    },
    doStream: async (call) => ({ stream: ReadableStream.from(play(call)) as ReadableStream<Part> }),
  }
  const limits = { firstPart: 1_000, idle: 1_000, total: 60_000 }
  return guardModel(model, { limits, origin: { provider: 'test', model: key } })
}

/** All of a stream: its chunks, its text and its last chunk. */
export async function readAll<Event extends object>({ headers, events }: EventStream<Event>) {
  const chunks: Event[] = []
  for await (const { event } of events as AsyncIterable<ClientEvent<Event>>) chunks.push(event)
  const content = chunks.map((chunk) => ('content' in chunk ? chunk.content : '')).join('')
  return { headers, chunks, content, last: chunks.at(-1) }
}

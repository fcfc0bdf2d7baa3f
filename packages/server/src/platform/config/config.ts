import { resolve } from 'node:path'
import type { z } from 'zod'
import { ModelsEnvironment } from '../models/models-environment.ts'
import { ServerEnvironment } from './env.ts'

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDirectory: string
  /** origin and path that people use; `undefined`: decided by the Host header of a loopback listener */
  readonly baseUrl: string | undefined
  /** signs cookies and encrypts signing keys; `undefined`: the one kept in the data directory */
  readonly secret: string | undefined
  readonly databaseUrl: string | undefined
  readonly databasePoolSize: number
  /** keeps conversations; `undefined`: the database does */
  readonly mongodbUri: string | undefined
  /** proxies whose forwarding headers are believed; `false`: none */
  readonly trustProxy: string[] | false
  /** requests a minute and class */
  readonly rateLimits: Readonly<Record<'standard' | 'ai' | 'upload', number>>
  readonly logLevel: ServerEnvironment['LOG_LEVEL']
  readonly workspaces: WorkspacesConfig
  /** host, and port if any, below which previews and editors are served; `undefined`: `localhost`, on loopback */
  readonly previewDomain: string | undefined
  readonly models: ModelsEnvironment
}

/** Sandboxes: which kind, and their bounds. */
export interface WorkspacesConfig {
  readonly runtime: ServerEnvironment['ATELIER_RUNTIME']
  readonly docker: { readonly image: string; readonly socketPath: string | undefined }
  /** without activity */
  readonly idleMilliseconds: number
  readonly memoryBytes: number
  /** hosts that may be reached; `undefined`: no network */
  readonly egress: readonly string[] | undefined
  readonly npmDirectory: string | undefined
  /** where code-server is, if it is installed */
  readonly codeServerDirectory: string
  /** PATH of the server */
  readonly path: string
}

/** The configuration is wrong: `message` lists every fault, one a line, never a value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Turns the environment into a frozen configuration. An empty variable counts as absent. Throws ConfigError with all faults. */
export function loadConfig(environment: Record<string, string | undefined>, root: string): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const server = ServerEnvironment.safeParse(set)
  const models = ModelsEnvironment.safeParse(set)
  const faults = [
    ...describeFaults(server.error),
    ...describeFaults(models.error),
    ...(server.success ? [...isolationFaults(server.data), ...previewFaults(server.data)] : []),
  ]
  if (!server.success || !models.success || faults.length > 0)
    throw new ConfigError(`Configuration is wrong:\n${faults.join('\n')}`)
  const env = server.data
  return Object.freeze({
    port: env.PORT,
    host: env.HOST,
    dataDirectory: resolve(root, env.ATELIER_DATA_DIR),
    baseUrl: env.ATELIER_BASE_URL?.replace(/\/+$/, ''),
    secret: env.ATELIER_SECRET,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    mongodbUri: env.MONGODB_URI,
    trustProxy:
      env.TRUST_PROXY === undefined ? false : env.TRUST_PROXY.split(',').map((entry) => entry.trim()),
    rateLimits: Object.freeze({
      standard: env.RATE_LIMIT_STANDARD,
      ai: env.RATE_LIMIT_AI,
      upload: env.RATE_LIMIT_UPLOAD,
    }),
    logLevel: env.LOG_LEVEL,
    workspaces: workspacesConfig(env, { path: set.PATH, root }),
    previewDomain: env.ATELIER_PREVIEW_DOMAIN,
    models: models.data,
  })
}

function workspacesConfig(
  env: ServerEnvironment,
  { path, root }: { path: string | undefined; root: string },
): WorkspacesConfig {
  return Object.freeze({
    runtime: env.ATELIER_RUNTIME,
    docker: Object.freeze({ image: env.ATELIER_DOCKER_IMAGE, socketPath: env.ATELIER_DOCKER_SOCKET }),
    idleMilliseconds: env.ATELIER_WORKSPACE_IDLE_MINUTES * 60_000,
    memoryBytes: env.ATELIER_WORKSPACE_MEMORY_MB * 1024 ** 2,
    egress: env.ATELIER_WORKSPACE_EGRESS,
    npmDirectory: env.ATELIER_NPM_DIR,
    codeServerDirectory: resolve(root, env.ATELIER_CODE_SERVER_DIR),
    path: path ?? usualPath,
  })
}

const loopback = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

/** Without isolation, whoever reaches the server has the machine. */
function isolationFaults({ ATELIER_RUNTIME, ATELIER_BASE_URL, HOST }: ServerEnvironment): string[] {
  const names = ATELIER_BASE_URL === undefined ? [HOST] : [HOST, new URL(ATELIER_BASE_URL).hostname]
  if (ATELIER_RUNTIME !== 'none' || names.every((name) => loopback.has(name))) return []
  return ['  ATELIER_RUNTIME: `none` is for a server that listens on loopback and is reached there']
}

/** A script below a domain may set cookies for it, so the platform's own host name must not be there or below. */
function previewFaults({ ATELIER_PREVIEW_DOMAIN, ATELIER_BASE_URL }: ServerEnvironment): string[] {
  if (ATELIER_PREVIEW_DOMAIN === undefined || ATELIER_BASE_URL === undefined) return []
  const domain = ATELIER_PREVIEW_DOMAIN.replace(/:\d+$/, '')
  const { hostname } = new URL(ATELIER_BASE_URL)
  if (hostname !== domain && !hostname.endsWith(`.${domain}`)) return []
  return ['  ATELIER_PREVIEW_DOMAIN: must not be the host of ATELIER_BASE_URL, nor a domain above it']
}

/** What a login shell has before anybody has set anything. */
const usualPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

function describeFaults(error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
}

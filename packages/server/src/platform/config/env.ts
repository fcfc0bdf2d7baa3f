import { z } from 'zod'
import { createEgressPolicy, defaultEgressHosts } from '../runtime/egress-policy.ts'

const count = (fallback: number) => z.coerce.number().int().min(1).max(1_000_000).default(fallback)

/** Stands for the usual package registries and code hosts in a list of hosts. */
const registries = 'registries'

const EgressHosts = z.string().transform((text, context) => {
  const entries = text.split(',').map((entry) => entry.trim())
  const hosts = entries.flatMap((entry) => (entry === registries ? defaultEgressHosts : [entry]))
  try {
    createEgressPolicy(hosts)
  } catch {
    context.addIssue(
      'must be host names separated by commas: `example.org`, `*.example.org`, `example.org:8443`',
    )
    return z.NEVER
  }
  return hosts
})

/** Every variable of the server itself, once. Those of the model providers are in `platform/models/models-environment.ts`. */
export const ServerEnvironment = z.object({
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(3000)
    .describe('port to listen on; 0 picks a free one'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on; `0.0.0.0` opens it to the network'),
  ATELIER_DATA_DIR: z
    .string()
    .default('.atelier')
    .describe('folder of the embedded database, uploads and secrets'),
  ATELIER_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('address that people use, e.g. `https://atelier.example.com`; needed behind a proxy'),
  ATELIER_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'signs cookies and encrypts signing keys; made once in the data folder where absent; several servers on one database need the same',
    ),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('PostgreSQL with pgvector; the embedded database where absent'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a mongodb:// address')
    .optional()
    .describe('MongoDB 4.4 or newer that keeps conversations; in the database where absent'),
  DATABASE_POOL_SIZE: count(10).describe('most connections to PostgreSQL'),
  TRUST_PROXY: z
    .string()
    .optional()
    .describe(
      'comma-separated addresses or networks of reverse proxies whose `X-Forwarded-*` headers are believed',
    ),
  ATELIER_RUNTIME: z
    .enum(['process', 'docker', 'none'])
    .default('process')
    .describe(
      'what keeps workspaces apart: Linux namespaces through bubblewrap, containers, or nothing at all for a single person on loopback',
    ),
  ATELIER_DOCKER_IMAGE: z
    .string()
    .default('node:24-bookworm')
    .describe('image of workspaces with `docker`; any with glibc and bash, pulled beforehand'),
  ATELIER_DOCKER_SOCKET: z
    .string()
    .optional()
    .describe('socket of the Docker daemon, unless it is the usual one'),
  ATELIER_WORKSPACE_IDLE_MINUTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60)
    .default(30)
    .describe('minutes without activity after which a workspace stops; a page that is merely open is none'),
  ATELIER_WORKSPACE_MEMORY_MB: z.coerce
    .number()
    .int()
    .min(256)
    .max(1024 * 1024)
    .default(2048)
    .describe('most memory of one workspace, in MiB'),
  ATELIER_WORKSPACE_EGRESS: EgressHosts.optional().describe(
    'hosts that workspaces may reach, separated by commas: `example.org`, `*.example.org`, `example.org:8443`; `registries` stands for the usual package registries and code hosts; no network where absent',
  ),
  ATELIER_NPM_DIR: z
    .string()
    .startsWith('/')
    .optional()
    .describe("directory of the npm package for workspaces, where the machine's own is not below `/usr`"),
  ATELIER_PREVIEW_DOMAIN: z
    .string()
    .regex(
      /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/,
      'must be a host name in lower case, with a port if need be',
    )
    .optional()
    .describe(
      'host name below which previews and editors are served, each under a name of its own: every name below it must lead to this server; `localhost` where absent, for who reaches this server on loopback',
    ),
  ATELIER_CODE_SERVER_DIR: z
    .string()
    .default('.atelier-tools/code-server')
    .describe('where `npm run install:code-server` puts code-server'),
  RATE_LIMIT_STANDARD: count(100).describe('requests a minute, standard endpoints'),
  RATE_LIMIT_AI: count(20).describe('requests a minute, AI endpoints'),
  RATE_LIMIT_UPLOAD: count(10).describe('requests a minute, upload endpoints'),
  LOG_LEVEL: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('least level that is logged'),
})
export type ServerEnvironment = z.infer<typeof ServerEnvironment>

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, signUp } from '@atelier/contract'
import { type ChildServer, startChild } from './child-server.ts'

export interface AtelierServer extends ChildServer {
  /** headers of an API key */
  readonly headers: Record<string, string>
}

/** Our server as a person starts it, in a process of its own with a fresh embedded database, and an API key. */
export async function startAtelier(
  upstream: string,
  options: { nodeOptions?: string[]; environment?: Record<string, string> } = {},
): Promise<AtelierServer> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-bench-'))
  const server = await startChild(join(import.meta.dirname, '../../packages/server/src/main.ts'), {
    ...(options.nodeOptions && { nodeOptions: options.nodeOptions }),
    environment: {
      NODE_ENV: 'production',
      PORT: '0',
      ATELIER_DATA_DIR: dataDirectory,
      OPENAI_API_KEY: 'bench',
      OPENAI_BASE_URL: `${upstream}/v1`,
      LOCAL_MODEL_DISCOVERY: 'off',
      RATE_LIMIT_STANDARD: '1000000',
      RATE_LIMIT_AI: '1000000',
      LOG_LEVEL: 'error',
      ...options.environment,
    },
  })
  const headers = { 'x-api-key': await keyFor(server.url) }
  return {
    url: server.url,
    memory: server.memory,
    cpuSeconds: server.cpuSeconds,
    headers,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}

async function keyFor(url: string): Promise<string> {
  const post = async (path: string, headers: Record<string, string>, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
    return response
  }
  const account = { name: 'Bench', email: 'bench@example.com', password: 'correct horse battery' }
  const signedUp = await post(signUp.path, {}, account)
  const cookie = signedUp.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const made = await post(createApiKey.path, { cookie }, { name: 'bench', scopes: ['ai'] })
  return ((await made.json()) as { data: { key: string } }).data.key
}

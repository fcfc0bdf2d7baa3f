import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, signUp } from '@atelier/contract'
import { type ChildServer, startChild } from './child-server.ts'

export interface AtelierServer extends ChildServer {
  /** headers of API keys, each of another person: what one person may ask at once is limited */
  readonly callers: readonly Record<string, string>[]
}

/** Our server as a person starts it, in a process of its own with a fresh embedded database, and API keys. */
export async function startAtelier(
  upstream: string,
  options: { people?: number; nodeOptions?: string[]; environment?: Record<string, string> } = {},
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
  const callers: Record<string, string>[] = []
  for (let number = 0; number < (options.people ?? 1); number += 1) {
    callers.push({ 'x-api-key': await keyFor(server.url, number) })
  }
  return {
    url: server.url,
    memory: server.memory,
    peakMemory: server.peakMemory,
    cpuSeconds: server.cpuSeconds,
    callers,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}

async function keyFor(url: string, number: number): Promise<string> {
  const post = async (path: string, headers: Record<string, string>, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
    return response
  }
  const account = { name: 'Bench', email: `bench-${number}@example.com`, password: 'correct horse battery' }
  const signedUp = await post(signUp.path, {}, account)
  const cookie = signedUp.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const made = await post(createApiKey.path, { cookie }, { name: 'bench', scopes: ['ai'] })
  return ((await made.json()) as { data: { key: string } }).data.key
}

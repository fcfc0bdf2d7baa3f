import type { ModelCapabilities } from '@atelier/contract'
import type { Clock } from '../../base/clock.ts'
import type { ModelsEnvironment } from './models-environment.ts'
import { type ServerProbe, serverProbes } from './server-probes.ts'

/** A model that a server beside this one serves. */
export interface DiscoveredModel {
  /** `ollama/qwen3:8b` */
  key: string
  provider: string
  /** its name at the server */
  model: string
  name: string
  family: string
  contextWindow: number | null
  capabilities: ModelCapabilities
}

export interface DiscoveredServer {
  id: string
  name: string
  /** where its chat completions are */
  baseURL: string
  apiKey: string | undefined
  /** true: runs on this network and costs nothing a token */
  free: boolean
  models: DiscoveredModel[]
}

export interface LocalDiscovery {
  /** What answered last; empty before the first refresh. Never waits. */
  servers(): readonly DiscoveredServer[]
  /** Looks again, unless that was less than 30 seconds ago; takes at most half a second and never rejects. */
  refresh(): Promise<readonly DiscoveredServer[]>
}

const refreshMilliseconds = 30_000
const probeMilliseconds = 500

/**
 * Finds Ollama, LM Studio, llama.cpp and a configured OpenAI-compatible server. A server that does not answer is absent;
 * that is the normal case and no error.
 */
export function createLocalDiscovery(options: {
  environment: ModelsEnvironment
  fetch: typeof globalThis.fetch
  clock: Clock
}): LocalDiscovery {
  const { environment, fetch, clock } = options
  const probes = serverProbes.filter((probe) => probe.enabled(environment))
  let servers: readonly DiscoveredServer[] = []
  let refreshedAt = Number.NEGATIVE_INFINITY
  let running: Promise<readonly DiscoveredServer[]> | undefined

  async function look(): Promise<readonly DiscoveredServer[]> {
    const found = await Promise.all(probes.map((probe) => ask(probe, environment, fetch)))
    servers = found.filter((server) => server !== undefined)
    refreshedAt = clock()
    return servers
  }

  return {
    servers: () => servers,
    refresh() {
      if (running !== undefined) return running
      if (clock() - refreshedAt < refreshMilliseconds) return Promise.resolve(servers)
      running = look().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

async function ask(
  probe: ServerProbe,
  environment: ModelsEnvironment,
  fetch: typeof globalThis.fetch,
): Promise<DiscoveredServer | undefined> {
  const { address, apiKey } = probe.connection(environment)
  const signal = AbortSignal.timeout(probeMilliseconds)
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const request = async (path: string, body?: object): Promise<unknown> => {
    const url = `${address.replace(/\/+$/, '')}${path}`
    const response = await fetch(url, {
      signal,
      redirect: 'error',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`${url} answered ${response.status}`)
    }
    return JSON.parse(await boundedText(response))
  }
  try {
    const models = await probe.models(request)
    if (models === undefined) return undefined
    return {
      id: probe.id,
      name: probe.name(environment),
      baseURL: `${address.replace(/\/+$/, '')}${probe.apiPath}`,
      apiKey,
      free: probe.free,
      models: models.map((model) => ({ ...model, key: `${probe.id}/${model.model}`, provider: probe.id })),
    }
  } catch {
    // Not running, not answering in time or not what we look for: all the same here.
    return undefined
  }
}

/** A list of models is a few kilobytes; another program on the port may send without end. */
const longestAnswer = 2 * 1024 * 1024

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length > longestAnswer) throw new Error('the answer is too long')
  }
  return text + decoder.decode()
}

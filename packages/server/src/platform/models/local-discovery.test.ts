import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createLocalDiscovery } from './local-discovery.ts'
import { ModelsEnvironment } from './models-environment.ts'

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  servers.push({
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answers(byPath: Record<string, unknown>, seen: string[] = []): Promise<string> {
  return listen((request, response) => {
    seen.push(request.url ?? '')
    const body = byPath[request.url ?? '']
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  })
}

/** A port on which nobody listens: of a server that has closed. */
async function nobody(): Promise<string> {
  const address = await answers({})
  servers.pop()?.close()
  return address
}

async function discover(environment: Record<string, string>, clock = () => 0) {
  const absent = await nobody()
  return createLocalDiscovery({
    environment: ModelsEnvironment.parse({
      OLLAMA_BASE_URL: absent,
      LMSTUDIO_BASE_URL: absent,
      LLAMACPP_BASE_URL: absent,
      ...environment,
    }),
    fetch,
    clock,
  })
}

describe('servers beside this one', () => {
  it('[MOD11] Ollama is found with its models, their windows and abilities; models that only embed are left out', async () => {
    const address = await listen((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { model } = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : { model: '' }
        const details: Record<string, unknown> = {
          '': {
            models: [{ name: 'qwen3:8b', details: { family: 'qwen3' } }, { name: 'nomic-embed-text:latest' }],
          },
          'qwen3:8b': {
            model_info: { 'qwen3.context_length': 40960 },
            capabilities: ['completion', 'tools', 'thinking'],
          },
          'nomic-embed-text:latest': { capabilities: ['embedding'] },
        }
        response.end(JSON.stringify(details[model]))
      })
    })
    const [server] = await (await discover({ OLLAMA_BASE_URL: address })).refresh()
    expect(server).toMatchObject({ id: 'ollama', baseURL: `${address}/v1`, free: true })
    expect(server?.models).toEqual([
      {
        key: 'ollama/qwen3:8b',
        provider: 'ollama',
        model: 'qwen3:8b',
        name: 'qwen3:8b',
        family: 'qwen3',
        contextWindow: 40960,
        capabilities: { streaming: true, tools: true, vision: false, reasoning: true, json: false },
      },
    ])
  })

  it('[MOD11] LM Studio is found, with the window a model is loaded with', async () => {
    const LMSTUDIO_BASE_URL = await answers({
      '/api/v0/models': {
        data: [
          {
            id: 'gemma',
            type: 'vlm',
            arch: 'gemma3',
            max_context_length: 131072,
            loaded_context_length: 8192,
          },
          { id: 'bge', type: 'embeddings' },
        ],
      },
    })
    const [server] = await (await discover({ LMSTUDIO_BASE_URL })).refresh()
    expect(server?.models).toMatchObject([
      { key: 'lmstudio/gemma', contextWindow: 8192, capabilities: { vision: true } },
    ])
  })

  it('[MOD11] llama.cpp is found; another program on its port is not taken for it', async () => {
    const models = { data: [{ id: '/models/qwen.gguf', owned_by: 'llamacpp', meta: { n_ctx_train: 32768 } }] }
    const LLAMACPP_BASE_URL = await answers({ '/v1/models': models })
    const [server] = await (await discover({ LLAMACPP_BASE_URL })).refresh()
    expect(server?.models).toMatchObject([
      { key: 'llamacpp//models/qwen.gguf', name: 'qwen.gguf', contextWindow: 32768 },
    ])
    const other = await answers({ '/v1/models': { data: [{ id: 'something', owned_by: 'vllm' }] } })
    expect(await (await discover({ LLAMACPP_BASE_URL: other })).refresh()).toEqual([])
  })

  it('[MOD11] any OpenAI-compatible server is found by configuration, and is not free', async () => {
    const address = await answers({
      '/v1/models': { data: [{ id: 'qwen', max_model_len: 65536 }, { id: 'text-embed' }] },
    })
    const discovery = await discover({
      OPENAI_COMPATIBLE_BASE_URL: `${address}/v1`,
      OPENAI_COMPATIBLE_NAME: 'vLLM',
    })
    const [server] = await discovery.refresh()
    expect(server).toMatchObject({ id: 'openai-compatible', name: 'vLLM', free: false })
    expect(server?.models).toMatchObject([{ key: 'openai-compatible/qwen', contextWindow: 65536 }])
  })

  it.each<[string, RequestListener]>([
    ['says nothing', () => {}],
    ['is no such server', (_, response) => response.end('<html>hello</html>')],
    [
      'sends without end',
      (_, response) => void setInterval(() => response.write('x'.repeat(100_000)), 1).unref(),
    ],
  ])('[MOD11, MOD12] one that %s is absent after half a second at most', async (_, listener) => {
    const address = await listen(listener)
    const discovery = await discover({ OLLAMA_BASE_URL: address, LMSTUDIO_BASE_URL: address })
    expect(await discovery.refresh()).toEqual([])
  })

  it('[MOD12] is asked once in 30 seconds, by everybody together, and listing never waits', async () => {
    let now = 0
    const seen: string[] = []
    const LMSTUDIO_BASE_URL = await answers({ '/api/v0/models': { data: [] } }, seen)
    const discovery = await discover({ LMSTUDIO_BASE_URL }, () => now)
    expect(discovery.servers()).toEqual([])
    await Promise.all([discovery.refresh(), discovery.refresh()])
    now = 29_999
    await discovery.refresh()
    expect(seen).toHaveLength(1)
    expect(discovery.servers()).toHaveLength(1)
    now = 30_000
    await discovery.refresh()
    expect(seen).toHaveLength(2)
  })

  it('[MOD12] is not looked for at all when switched off', async () => {
    const seen: string[] = []
    const OLLAMA_BASE_URL = await answers({ '/api/tags': { models: [] } }, seen)
    expect(await (await discover({ OLLAMA_BASE_URL, LOCAL_MODEL_DISCOVERY: 'off' })).refresh()).toEqual([])
    expect(seen).toEqual([])
  })
})

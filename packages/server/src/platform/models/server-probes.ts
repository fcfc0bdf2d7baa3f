import type { ModelCapabilities } from '@atelier/contract'
import { z } from 'zod'
import type { DiscoveredModel } from './local-discovery.ts'
import type { ModelsEnvironment } from './models-environment.ts'

type FoundModel = Omit<DiscoveredModel, 'key' | 'provider'>

/** GET of a path, or POST with a body; rejects unless the answer is JSON with a 2xx status. */
type Request = (path: string, body?: object) => Promise<unknown>

/** How one kind of server is recognised and asked for its models. */
export interface ServerProbe {
  id: string
  free: boolean
  /** from the configured address to the chat completions */
  apiPath: string
  name(environment: ModelsEnvironment): string
  enabled(environment: ModelsEnvironment): boolean
  connection(environment: ModelsEnvironment): { address: string; apiKey: string | undefined }
  /** Undefined: something else answers there. Rejects when nothing does. */
  models(request: Request): Promise<FoundModel[] | undefined>
}

const discoveryIsOn = (environment: ModelsEnvironment) => environment.LOCAL_MODEL_DISCOVERY === 'on'

export const serverProbes: readonly ServerProbe[] = [
  {
    id: 'ollama',
    free: true,
    apiPath: '/v1',
    name: () => 'Ollama',
    enabled: discoveryIsOn,
    connection: (environment) => ({ address: environment.OLLAMA_BASE_URL, apiKey: undefined }),
    models: ollamaModels,
  },
  {
    id: 'lmstudio',
    free: true,
    apiPath: '/v1',
    name: () => 'LM Studio',
    enabled: discoveryIsOn,
    connection: (environment) => ({ address: environment.LMSTUDIO_BASE_URL, apiKey: undefined }),
    models: lmStudioModels,
  },
  {
    id: 'llamacpp',
    free: true,
    apiPath: '/v1',
    name: () => 'llama.cpp',
    enabled: discoveryIsOn,
    connection: (environment) => ({ address: environment.LLAMACPP_BASE_URL, apiKey: undefined }),
    models: llamaCppModels,
  },
  {
    id: 'openai-compatible',
    free: false,
    apiPath: '',
    name: (environment) => environment.OPENAI_COMPATIBLE_NAME,
    enabled: (environment) => environment.OPENAI_COMPATIBLE_BASE_URL !== undefined,
    connection: (environment) => ({
      address: environment.OPENAI_COMPATIBLE_BASE_URL ?? '',
      apiKey: environment.OPENAI_COMPATIBLE_API_KEY,
    }),
    models: compatibleModels,
  },
]

const OllamaTags = z.object({
  models: z.array(
    z.object({ name: z.string(), details: z.object({ family: z.string() }).partial().optional() }),
  ),
})
const OllamaModel = z.object({
  model_info: z.record(z.string(), z.unknown()).optional(),
  capabilities: z.array(z.string()).optional(),
})

/** More models than a person scrolls through are not asked one by one for their details. */
const mostDetails = 50

async function ollamaModels(request: Request): Promise<FoundModel[]> {
  const { models } = OllamaTags.parse(await request('/api/tags'))
  const found = await Promise.all(
    models.map(async ({ name, details }, index) => {
      const detail = index < mostDetails ? await ollamaDetail(request, name) : undefined
      const can = detail?.capabilities
      if (can !== undefined && !can.includes('completion')) return undefined
      const window = Object.entries(detail?.model_info ?? {}).find(([key]) =>
        key.endsWith('.context_length'),
      )?.[1]
      return {
        model: name,
        name,
        family: details?.family ?? 'ollama',
        contextWindow: positive(window),
        capabilities: capabilities({
          tools: can?.includes('tools') ?? false,
          vision: can?.includes('vision') ?? false,
          reasoning: can?.includes('thinking') ?? false,
        }),
      }
    }),
  )
  return found.filter((model) => model !== undefined)
}

/** Undefined when the details do not come in time: the model is listed all the same. */
async function ollamaDetail(
  request: Request,
  model: string,
): Promise<z.infer<typeof OllamaModel> | undefined> {
  try {
    return OllamaModel.parse(await request('/api/show', { model }))
  } catch {
    return undefined
  }
}

const LmStudioModels = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.enum(['llm', 'vlm', 'embeddings']).or(z.string()),
      arch: z.string().optional(),
      max_context_length: z.number().optional(),
      loaded_context_length: z.number().optional(),
      capabilities: z.array(z.string()).optional(),
    }),
  ),
})

async function lmStudioModels(request: Request): Promise<FoundModel[]> {
  const { data } = LmStudioModels.parse(await request('/api/v0/models'))
  return data
    .filter((model) => model.type === 'llm' || model.type === 'vlm')
    .map((model) => ({
      model: model.id,
      name: model.id,
      family: model.arch ?? 'lmstudio',
      contextWindow: positive(model.loaded_context_length ?? model.max_context_length),
      capabilities: capabilities({
        tools: model.capabilities?.includes('tool_use') ?? false,
        vision: model.type === 'vlm',
      }),
    }))
}

const OpenAIModels = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().optional(),
      meta: z.object({ n_ctx: z.number(), n_ctx_train: z.number() }).partial().nullish(),
      max_model_len: z.number().nullish(),
      context_length: z.number().nullish(),
      context_window: z.number().nullish(),
    }),
  ),
})

/** Port 8080 is everybody's: only an answer that names llama.cpp as owner counts. */
async function llamaCppModels(request: Request): Promise<FoundModel[] | undefined> {
  const { data } = OpenAIModels.parse(await request('/v1/models'))
  if (!data.some((model) => model.owned_by === 'llamacpp')) return undefined
  return data.map((model) => ({
    model: model.id,
    name: model.id.split('/').at(-1) ?? model.id,
    family: 'llamacpp',
    contextWindow: positive(model.meta?.n_ctx ?? model.meta?.n_ctx_train),
    capabilities: capabilities({}),
  }))
}

/** vLLM tells `max_model_len`, OpenRouter `context_length`, Groq `context_window`. */
async function compatibleModels(request: Request): Promise<FoundModel[]> {
  const { data } = OpenAIModels.parse(await request('/models'))
  return data
    .filter((model) => !/embed|rerank|whisper|tts/i.test(model.id))
    .map((model) => ({
      model: model.id,
      name: model.id,
      family: 'openai-compatible',
      contextWindow: positive(model.max_model_len ?? model.context_length ?? model.context_window),
      capabilities: capabilities({ tools: true }),
    }))
}

function capabilities(known: Partial<ModelCapabilities>): ModelCapabilities {
  return { streaming: true, tools: false, vision: false, reasoning: false, json: false, ...known }
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null
}

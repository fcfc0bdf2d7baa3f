import { z } from 'zod'
import { knownEmbeddingModels } from './known-embedding-models.ts'
import { modelFallbacksPattern } from './model-fallbacks.ts'
import { modelLimitsPattern } from './model-limits.ts'

const key = (company: string) =>
  z
    .string()
    .min(1)
    .optional()
    .describe(`API key of ${company}; several, with commas between them, are used in turn`)

const url = z.url({ protocol: /^https?$/ })

const address = (what: string, example: string) =>
  url.optional().describe(`address of ${what}, such as \`${example}\``)

const addressWithDefault = (what: string, usual: string) => url.default(usual).describe(`address of ${what}`)

const seconds = (fallback: number) => z.coerce.number().int().min(1).max(86_400).default(fallback)

/**
 * Every variable about models, once; the configuration guide is generated from the descriptions.
 * Keys and addresses have the names that the providers' own SDKs use. All are optional: without any, the keyless
 * `local` model answers and search is lexical.
 */
export const ModelsEnvironment = z
  .object({
    OPENAI_API_KEY: key('OpenAI'),
    OPENAI_BASE_URL: address('a proxy for OpenAI', 'https://api.openai.com/v1'),
    OPENAI_API: z
      .enum(['chat', 'responses'])
      .optional()
      .describe(
        'dialect spoken to OpenAI; by default `responses` at its own address and `chat` at any other, because that is what proxies and compatible servers speak',
      ),
    ANTHROPIC_API_KEY: key('Anthropic'),
    ANTHROPIC_BASE_URL: address('a proxy for Anthropic', 'https://api.anthropic.com/v1'),
    GOOGLE_GENERATIVE_AI_API_KEY: key('Google (Gemini API)'),
    GOOGLE_GENERATIVE_AI_BASE_URL: address(
      'a proxy for Google',
      'https://generativelanguage.googleapis.com/v1beta',
    ),
    MISTRAL_API_KEY: key('Mistral AI'),
    MISTRAL_BASE_URL: address('a proxy for Mistral AI', 'https://api.mistral.ai/v1'),
    GROQ_API_KEY: key('Groq, which serves open models'),
    GROQ_BASE_URL: address('a proxy for Groq', 'https://api.groq.com/openai/v1'),
    XAI_API_KEY: key('xAI'),
    XAI_BASE_URL: address('a proxy for xAI', 'https://api.x.ai/v1'),
    DEEPSEEK_API_KEY: key('DeepSeek'),
    DEEPSEEK_BASE_URL: address('a proxy for DeepSeek', 'https://api.deepseek.com'),
    MODEL_API_KEY: key("Meta's Model API (the name is Meta's own)"),
    META_BASE_URL: address("a proxy for Meta's Model API", 'https://api.meta.ai/v1'),
    VOYAGE_API_KEY: key('Voyage AI (embeddings only)'),
    VOYAGE_BASE_URL: address('a proxy for Voyage AI', 'https://api.voyageai.com/v1'),
    OPENAI_COMPATIBLE_BASE_URL: address(
      'any server that speaks OpenAI’s chat completions',
      'http://127.0.0.1:8000/v1',
    ),
    OPENAI_COMPATIBLE_API_KEY: key('that server, if it wants one'),
    OPENAI_COMPATIBLE_NAME: z
      .string()
      .min(1)
      .max(60)
      .default('OpenAI-compatible server')
      .describe('name of that server in lists'),
    OLLAMA_BASE_URL: addressWithDefault('Ollama', 'http://127.0.0.1:11434'),
    LMSTUDIO_BASE_URL: addressWithDefault('LM Studio', 'http://127.0.0.1:1234'),
    LLAMACPP_BASE_URL: addressWithDefault("llama.cpp's server", 'http://127.0.0.1:8080'),
    LOCAL_MODEL_DISCOVERY: z
      .enum(['on', 'off'])
      .default('on')
      .describe('look for Ollama, LM Studio and llama.cpp at their addresses'),
    EMBEDDING_MODEL: z
      .string()
      .regex(
        /^(local\/hashed|(openai|google|mistral|voyage|ollama|openai-compatible)\/.+)$/,
        'must be local/hashed, openai/…, google/…, mistral/…, voyage/…, ollama/… or openai-compatible/…',
      )
      .optional()
      .describe(
        'model that embeds code for search, as `provider/model`, such as `openai/text-embedding-3-small`; by default `local/hashed`, which is lexical and needs no key',
      ),
    EMBEDDING_DIMENSIONS: z.coerce
      .number()
      .int()
      .min(8)
      .max(4096)
      .optional()
      .describe('length of its vectors; needed for models this server does not know'),
    MODEL_FALLBACKS: z
      .string()
      .regex(modelFallbacksPattern, 'must be of the form `model=fallback,fallback; *=fallback`')
      .optional()
      .describe(
        'models that answer when one fails, in order: `model=fallback,fallback; *=fallback`, where `*` is every other model',
      ),
    MODEL_LIMITS: z
      .string()
      .regex(modelLimitsPattern, 'must be of the form `model=60 requests, 100000 tokens; *=600 requests`')
      .optional()
      .describe(
        'what a model may take in a minute, of all people together on one server: `model=60 requests, 100000 tokens; *=600 requests`, where `*` is each other model',
      ),
    MODEL_FIRST_TOKEN_TIMEOUT_SECONDS: seconds(120).describe('longest wait for the first part of an answer'),
    MODEL_IDLE_TIMEOUT_SECONDS: seconds(120).describe('longest silence between two parts of an answer'),
    MODEL_TOTAL_TIMEOUT_SECONDS: seconds(600).describe('longest answer'),
    MODEL_CONNECTIONS: z.coerce
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(256)
      .describe('most open connections to one provider; further requests wait for one'),
  })
  .superRefine((environment, context) => {
    const model = environment.EMBEDDING_MODEL
    if (model === undefined || model === 'local/hashed' || environment.EMBEDDING_DIMENSIONS !== undefined)
      return
    if (knownEmbeddingModels[model] !== undefined) return
    context.addIssue({
      code: 'custom',
      path: ['EMBEDDING_DIMENSIONS'],
      message: `must be set, because the length of the vectors of ${model} is not known here`,
    })
  })
export type ModelsEnvironment = z.infer<typeof ModelsEnvironment>

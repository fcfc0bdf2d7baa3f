import { z } from 'zod'
import { maxMessages } from './chat.ts'
import { endpoint } from './endpoint.ts'

const tag = 'OpenAI'

/** Longest text of one message, in characters. */
const maxText = 4_000_000

/** Most texts of one embedding request, and characters of one. */
const maxInputs = 2_048
const maxInputLength = 100_000

const Text = z.string().max(maxText)

const TextPart = z.looseObject({ type: z.literal('text'), text: Text })
const ImagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({
    url: z
      .string()
      .regex(
        /^data:image\/[a-z0-9.+-]+;base64,/i,
        'must be a data URL: images are not fetched from elsewhere',
      ),
  }),
})

const ToolCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function').default('function'),
  function: z.looseObject({ name: z.string().min(1), arguments: Text }),
})

/** Unknown properties are taken and ignored, as clients of many versions send them. */
export const OpenAiMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: z.union([Text, z.array(TextPart)]) }),
  z.looseObject({ role: z.literal('developer'), content: z.union([Text, z.array(TextPart)]) }),
  z.looseObject({
    role: z.literal('user'),
    content: z.union([Text, z.array(z.discriminatedUnion('type', [TextPart, ImagePart]))]),
  }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.union([Text, z.array(TextPart)]).nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.looseObject({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1),
    content: z.union([Text, z.array(TextPart)]),
  }),
])
export type OpenAiMessage = z.infer<typeof OpenAiMessage>

const FunctionTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().min(1).max(64),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
})

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
])

const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: z.string().nullish(),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()).nullish(),
    }),
  }),
])

const Tokens = z.number().int().min(1).nullish()

export const createChatCompletion = endpoint({
  name: 'createChatCompletion',
  method: 'POST',
  path: '/v1/chat/completions',
  tag,
  summary: 'OpenAI’s chat completions, answered by any model; an API key goes into `Authorization: Bearer`',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: 20 * 1024 * 1024,
  body: z.looseObject({
    model: z.string().min(1).max(200).describe('a key or an id of `GET /v1/models`'),
    messages: z.array(OpenAiMessage).min(1, 'must not be empty').max(maxMessages),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    max_tokens: Tokens,
    max_completion_tokens: Tokens,
    stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    seed: z.number().int().nullish(),
    n: z.literal(1, 'must be 1: one answer a request').nullish(),
    tools: z.array(FunctionTool).max(128).nullish(),
    tool_choice: ToolChoice.nullish(),
    response_format: ResponseFormat.nullish(),
  }),
  produces: 'application/json',
  message: 'Completion created',
})

export const listOpenAiModels = endpoint({
  name: 'listOpenAiModels',
  method: 'GET',
  path: '/v1/models',
  tag,
  summary: 'The models that can be used now, as OpenAI lists them',
  access: 'user',
  scope: 'ai',
  rate: 'standard',
  produces: 'application/json',
  message: 'Models listed',
})

export const createEmbeddings = endpoint({
  name: 'createEmbeddings',
  method: 'POST',
  path: '/v1/embeddings',
  tag,
  summary: 'OpenAI’s embeddings, by the model that embeds code here',
  access: 'user',
  scope: 'ai',
  rate: 'ai',
  maxBodyBytes: 20 * 1024 * 1024,
  body: z.looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .describe('the embedding model of this server, which `GET /v1/models` lists'),
    input: z.union([
      z.string().min(1, 'must not be empty').max(maxInputLength),
      z.array(z.string().min(1, 'must not be empty').max(maxInputLength)).min(1).max(maxInputs),
    ]),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.number().int().min(1).nullish(),
  }),
  produces: 'application/json',
  message: 'Embeddings created',
})

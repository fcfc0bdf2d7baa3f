import { type Body, createChatCompletion, createEmbeddings, listOpenAiModels } from '@atelier/contract'
import { AppError, invalidField } from '../../base/app-error.ts'
import { newId } from '../../base/ids.ts'
import { writeEventStream } from '../../platform/http/event-stream.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Call, mountRaw } from '../../platform/http/mount.ts'
import type { Principal } from '../../platform/identity/principal.ts'
import type { AnswerRequest } from './answer.ts'
import type { ChargedEmbedder } from './charged-embedder.ts'
import type { Gateway } from './gateway.ts'
import type { CallOwner } from './ledger.ts'
import type { ModelChoice } from './model-choice.ts'
import type { ModelSource } from './model-source.ts'
import { completionChunks, completionOf } from './openai-answer.ts'
import { promptFrom, settingsFrom } from './openai-prompt.ts'

/** OpenAI's dialect: any client of it works with our address and one of our keys. */
export function mountOpenAiRoutes(dependencies: {
  http: HttpServer
  gateway: Gateway
  models: ModelSource
  embedder: ChargedEmbedder
}): void {
  const { http, gateway, models, embedder } = dependencies
  mountRaw(http, createChatCompletion, async (call, reply) => {
    const request = requestOf(call, choose(gateway, models, call.body.model))
    const head = { id: `chatcmpl-${request.runId}`, created: Math.floor(Date.now() / 1000) }
    if (call.body.stream !== true) {
      const answer = await gateway.whole(request).catch((error) => left(error, call.signal))
      return reply.header('x-model-used', answer.model.key).send(completionOf(head, answer))
    }
    const answer = await gateway.stream(request).catch((error) => left(error, call.signal))
    const includeUsage = call.body.stream_options?.include_usage === true
    reply.hijack()
    await writeEventStream(reply.raw, {
      headers: { ...reply.getHeaders(), 'x-model-used': answer.model.key },
      events: completionChunks(head, answer, { includeUsage }),
    })
  })
  mountRaw(http, listOpenAiModels, async (_call, reply) => {
    const { models: records, updated } = await models.freshCatalog()
    const created = Math.floor(Date.parse(updated) / 1000)
    const chat = records
      .filter(({ available }) => available)
      .map(({ key, provider }) => ({ id: key, owned_by: provider }))
    const all = [...chat, { id: embedder.id, owned_by: embedder.id.split('/')[0] }]
    return reply.send({ object: 'list', data: all.map((one) => ({ ...one, object: 'model', created })) })
  })
  mountRaw(http, createEmbeddings, async (call, reply) => reply.send(await embed(embedder, call)))
}

/** A client of an API wants the model it names, or an error: nothing else answers for a model without a key. */
function choose(gateway: Gateway, models: ModelSource, name: string): ModelChoice {
  const record = models.find(name) ?? models.catalog().models.find(({ id }) => id === name)
  if (record === undefined) {
    throw new AppError('NOT_FOUND', `The model \`${name}\` does not exist`, {
      details: { field: 'model', issue: 'is not a known model', openAiCode: 'model_not_found' },
    })
  }
  const choice = gateway.choose({ kind: 'one', model: record.key, field: 'model' })
  if (choice.notice === null) return choice
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    `The provider of \`${name}\` has no key here or does not answer`,
    {
      details: { field: 'model', openAiCode: 'model_not_available' },
    },
  )
}

function requestOf(call: Call<typeof createChatCompletion>, choice: ModelChoice): AnswerRequest {
  const { body } = call
  const prompt = promptFrom(body.messages)
  return {
    choice,
    prompt: async () => ({ prompt }),
    settings: settingsFrom(body),
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    signal: call.signal,
    runId: newId('run'),
    requestId: call.requestId,
    ...ownerOf(call.principal),
  }
}

function ownerOf(principal: Principal): CallOwner {
  const apiKeyId = principal.kind === 'api-key' ? principal.apiKeyId : null
  return { userId: principal.userId, workspaceId: null, apiKeyId }
}

/** A client that has left is no failure of ours. */
function left(error: unknown, signal: AbortSignal): never {
  if (error instanceof AppError || !signal.aborted) throw error
  throw new AppError('INVALID_REQUEST', 'The connection ended before the answer', { cause: error })
}

async function embed(embedder: ChargedEmbedder, call: Call<typeof createEmbeddings>) {
  const { body, signal } = call
  const { model, dimensions, encoding_format: format }: Body<typeof createEmbeddings> = body
  if (model !== embedder.id)
    throw invalidField('model', `must be the embedding model of this server, ${embedder.id}`)
  if (dimensions != null && dimensions !== embedder.dimensions) {
    throw invalidField(
      'dimensions',
      `must be ${embedder.dimensions}, the length of the vectors of ${embedder.id}`,
    )
  }
  const texts = [body.input].flat()
  const { vectors, usage } = await embedder.embed(ownerOf(call.principal), texts, 'document', signal)
  return {
    object: 'list',
    model,
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? base64Of(vector) : Array.from(vector),
    })),
    usage: { prompt_tokens: usage.tokens, total_tokens: usage.tokens },
  }
}

/** Little-endian 32-bit floats, as OpenAI's clients decode them. */
function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}

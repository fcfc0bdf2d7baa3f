import { chat, chatEnhanced, chatUnified, chatWithVendor } from '@atelier/contract'
import { invalidField } from '../../base/app-error.ts'
import { success } from '../../platform/http/envelope.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { type Call, mount, mountRaw } from '../../platform/http/mount.ts'
import type { ModelQuery } from '../gateway/index.ts'
import type { ChatRequest } from './answer-context.ts'
import type { ChatService, ChatWhole } from './chat-service.ts'
import { toConversation } from './conversation.ts'
import { sendAnswer } from './send-answer-routes.ts'
import { wantsUiMessages } from './ui-message-stream.ts'

export function mountChatRoutes({ http, service }: { http: HttpServer; service: ChatService }): void {
  mount(http, chat, async (call) => {
    const models: ModelQuery = { kind: 'one', model: call.body.model, field: 'model' }
    return wholeAnswerOf(await service.whole(questionOf(call, models), call.signal))
  })
  mount(http, chatWithVendor, async (call) => {
    const { vendor } = call.params
    const models: ModelQuery = { kind: 'vendor', vendor, model: call.body.model, field: 'model' }
    return wholeAnswerOf(await service.whole(questionOf(call, models), call.signal))
  })
  mountRaw(http, chatEnhanced, async (call, reply) => {
    await sendAnswer(reply, await service.stream(enhancedQuestionOf(call)), call.signal)
  })
  mountRaw(http, chatUnified, async (call, reply) => {
    const { stream, reset, enableTools } = call.body
    if (reset === true && enableTools === true)
      throw invalidField('reset', 'is not possible with enableTools')
    const streamed = stream === true || wantsUiMessages(call.request.headers.accept)
    const request = {
      ...questionOf(call, chainOf(call)),
      restart: reset === true,
      enableTools: streamed && enableTools === true,
    }
    if (streamed) return sendAnswer(reply, await service.stream(request), call.signal)
    const whole = await service.whole(request, call.signal)
    const data = { ...wholeAnswerOf(whole), attempts: [...whole.answer.attempts] }
    return reply.send(success(data, chatUnified.message, call.requestId))
  })
}

type QuestionCall = Call<typeof chat> | Call<typeof chatWithVendor> | Call<typeof chatUnified>

function questionOf(call: QuestionCall, models: ModelQuery): ChatRequest {
  const { messages, temperature, maxTokens, workspaceId } = call.body
  return {
    principal: call.principal,
    requestId: call.requestId,
    conversation: toConversation(messages, 'messages'),
    models,
    restart: false,
    workspaceId,
    files: [],
    temperature,
    maxTokens,
    questionField: 'messages',
    enableTools: false,
  }
}

function enhancedQuestionOf(call: Call<typeof chatEnhanced>): ChatRequest {
  const { message, model, context, enableTools } = call.body
  const messages = [...(context?.previousMessages ?? []), { role: 'user' as const, content: message }]
  return {
    principal: call.principal,
    requestId: call.requestId,
    conversation: toConversation(messages, 'message'),
    models: { kind: 'one', model, field: 'model' },
    restart: false,
    workspaceId: context?.workspaceId,
    files: context?.files ?? [],
    temperature: undefined,
    maxTokens: undefined,
    questionField: 'message',
    enableTools: enableTools === true,
  }
}

function chainOf({ body: { model, models = [] } }: Call<typeof chatUnified>): ModelQuery {
  const first = model === undefined ? [] : [{ key: model, field: 'model' }]
  const others = models.map((key, index) => ({ key, field: `models.${index}` }))
  return { kind: 'chain', models: [...first, ...others] }
}

function wholeAnswerOf({ answer, context }: ChatWhole) {
  const { text, model, finishReason, usage, cost } = answer
  return {
    message: { role: 'assistant' as const, content: text },
    model: model.key,
    provider: model.id,
    finishReason,
    usage,
    cost,
    ...(context.workspaceId === null ? {} : { citations: context.citationsIn(text) }),
  }
}

/** How a provider streams: the four wire protocols, and the variants of OpenAI's chat completions in the usage's place. */
export type Dialect = 'chat' | 'chat-usage-at-end' | 'chat-groq' | 'responses' | 'anthropic' | 'google'

export interface Told {
  input: number
  output: number
}

/** An answer in one protocol's own bytes: events before its text, one for each piece of text, and those of its end. */
export interface WireAnswer {
  head: string[]
  texts: string[]
  tail: string[]
}

const id = 'answer_1'
const created = 1_760_000_000

/** `usage: undefined`: the provider says nothing of tokens, as some compatible servers do. */
export function wireAnswer(
  dialect: Dialect,
  model: string,
  texts: readonly string[],
  usage?: Told,
): WireAnswer {
  if (dialect === 'responses') return responses(model, texts, usage)
  if (dialect === 'anthropic') return anthropic(model, texts, usage)
  if (dialect === 'google') return google(model, texts, usage)
  return chat(dialect, model, texts, usage)
}

/** What a provider sends in a stream that began well, when it fails. */
export function wireFailure(dialect: Dialect): string {
  const message = 'the model is overloaded'
  if (dialect === 'anthropic') {
    return event({ type: 'error', error: { type: 'overloaded_error', message } }, 'error')
  }
  if (dialect === 'google') return event({ error: { code: 503, message, status: 'UNAVAILABLE' } })
  if (dialect === 'responses') {
    return event({ type: 'error', sequence_number: 9, code: 'server_error', message, param: null }, 'error')
  }
  return event({ error: { message, type: 'server_error', code: 'server_error', param: null } })
}

/** The body of a refusal. */
export function wireRefusal(dialect: Dialect, status: number): string {
  const message = `refused with ${status}`
  if (dialect === 'anthropic')
    return JSON.stringify({ type: 'error', error: { type: codeOf(status), message } })
  if (dialect === 'google')
    return JSON.stringify({ error: { code: status, message, status: codeOf(status) } })
  return JSON.stringify({ error: { message, type: codeOf(status), code: codeOf(status), param: null } })
}

function codeOf(status: number): string {
  if (status === 401) return 'invalid_api_key'
  return status === 429 ? 'rate_limit_exceeded' : 'server_error'
}

function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
}

function chat(dialect: Dialect, model: string, texts: readonly string[], told?: Told): WireAnswer {
  const usage = told && {
    prompt_tokens: told.input,
    completion_tokens: told.output,
    total_tokens: told.input + told.output,
  }
  const chunk = (choices: unknown[], extra: object = {}) =>
    event({ id, object: 'chat.completion.chunk', created, model, choices, ...extra })
  const choice = (delta: object, finish: string | null = null) => ({ index: 0, delta, finish_reason: finish })
  const last = dialect === 'chat-groq' ? { x_groq: { id, usage } } : { usage }
  const apart = dialect === 'chat'
  return {
    head: [chunk([choice({ role: 'assistant', content: '' })])],
    texts: texts.map((content) => chunk([choice({ content })])),
    tail: [
      chunk([choice({}, 'stop')], apart || usage === undefined ? {} : last),
      ...(apart && usage !== undefined ? [chunk([], { usage })] : []),
      'data: [DONE]\n\n',
    ],
  }
}

function anthropic(model: string, texts: readonly string[], told?: Told): WireAnswer {
  const named = (data: { type: string }) => event(data, data.type)
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // The protocol requires these; a server that does not count sends zeros.
    usage: { input_tokens: told?.input ?? 0, output_tokens: 0 },
  }
  const delta = (data: object) =>
    named({ type: 'content_block_delta', index: 0, ...data } as { type: string })
  const end = {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: told?.output ?? 0 },
  }
  return {
    head: [
      named({ type: 'message_start', message } as { type: string }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
        type: string
      }),
      named({ type: 'ping' }),
    ],
    texts: texts.map((text) => delta({ delta: { type: 'text_delta', text } })),
    tail: [
      named({ type: 'content_block_stop', index: 0 } as { type: string }),
      named({ type: 'message_delta', ...end } as { type: string }),
      named({ type: 'message_stop' }),
    ],
  }
}

function google(model: string, texts: readonly string[], told?: Told): WireAnswer {
  const usageMetadata = told && {
    promptTokenCount: told.input,
    candidatesTokenCount: told.output,
    totalTokenCount: told.input + told.output,
  }
  const part = (text: string, extra: object = {}, more: object = {}) =>
    event({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...extra }],
      modelVersion: model,
      ...more,
    })
  return {
    head: [],
    texts: texts.map((text) => part(text)),
    tail: [part('', { finishReason: 'STOP' }, usageMetadata && { usageMetadata })],
  }
}

function responses(model: string, texts: readonly string[], told?: Told): WireAnswer {
  let number = 0
  const numbered = (type: string, data: object) => {
    number += 1
    return event({ type, sequence_number: number, ...data }, type)
  }
  const usage = told && {
    input_tokens: told.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: told.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: told.input + told.output,
  }
  const response = { id, object: 'response', created_at: created, model, output: [] as unknown[] }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const item = (content: unknown[], status: string) => {
    return { id: 'msg_1', type: 'message', role: 'assistant', status, content }
  }
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const done = item([part(texts.join(''))], 'completed')
  return {
    head: [
      numbered('response.created', { response: { ...response, status: 'in_progress' } }),
      numbered('response.output_item.added', { output_index: 0, item: item([], 'in_progress') }),
      numbered('response.content_part.added', { ...place, part: part('') }),
    ],
    texts: texts.map((delta) => numbered('response.output_text.delta', { ...place, delta, logprobs: [] })),
    tail: [
      numbered('response.output_text.done', { ...place, text: texts.join(''), logprobs: [] }),
      numbered('response.output_item.done', { output_index: 0, item: done }),
      numbered('response.completed', {
        response: { ...response, status: 'completed', output: [done], ...(usage && { usage }) },
      }),
    ],
  }
}

/** The same answer as one document. */
export function wireDocument(dialect: Dialect, model: string, text: string, told?: Told): string {
  const counted = told ?? { input: 0, output: 0 }
  if (dialect === 'anthropic') {
    return JSON.stringify({
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: counted.input, output_tokens: counted.output },
    })
  }
  if (dialect === 'google') {
    return JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      modelVersion: model,
      ...(told && {
        usageMetadata: {
          promptTokenCount: told.input,
          candidatesTokenCount: told.output,
          totalTokenCount: told.input + told.output,
        },
      }),
    })
  }
  if (dialect === 'responses') {
    return JSON.stringify({
      id,
      object: 'response',
      created_at: created,
      model,
      status: 'completed',
      output: [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: counted.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: counted.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: counted.input + counted.output,
      },
    })
  }
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    // Mistral's documents always have one.
    ...((told !== undefined || dialect === 'chat-usage-at-end') && {
      usage: {
        prompt_tokens: counted.input,
        completion_tokens: counted.output,
        total_tokens: counted.input + counted.output,
      },
    }),
  })
}

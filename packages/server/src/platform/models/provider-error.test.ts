import { inspect } from 'node:util'
import { APICallError, LoadAPIKeyError, UnsupportedFunctionalityError } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { type ProviderErrorKind, toProviderError } from './provider-error.ts'
import { retryAfterFrom } from './retry-after.ts'

const origin = { provider: 'openai', model: 'gpt-6.2-sol' }
const secret = 'sk-proj-abcdef0123456789'
const prompt = 'the plans of our next product'

function answered(statusCode: number, error: object = {}, message = 'said the provider'): APICallError {
  return new APICallError({
    message,
    url: `https://api.openai.com/v1?key=${secret}`,
    requestBodyValues: { messages: [{ content: prompt }] },
    statusCode,
    responseHeaders: {},
    responseBody: JSON.stringify({ error: { message, ...error } }),
    data: { error: { message, ...error } },
  })
}

/** The status is the package's invention, and the body is not a text. */
function inside200(error: object): APICallError {
  const responseBody = { error: { message: 'overloaded', ...error } } as unknown as string
  return new APICallError({
    message: 'overloaded',
    url: 'https://api.openai.com',
    requestBodyValues: {},
    statusCode: 400,
    responseBody,
  })
}

function network(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code }) })
}

const cases: [ProviderErrorKind, string, unknown][] = [
  ['key', 'status 401', answered(401, { code: 'invalid_api_key' })],
  ['key', 'no credit', answered(402)],
  ['key', 'a used-up quota, which comes as 429', answered(429, { code: 'insufficient_quota' })],
  [
    'key',
    "Google's bad key, which comes as 400",
    answered(400, { status: 'INVALID_ARGUMENT' }, 'API_KEY_INVALID'),
  ],
  ['key', 'no key at all', new LoadAPIKeyError({ message: 'OpenAI API key is missing' })],
  ['transient', 'status 429', answered(429, { code: 'rate_limit_exceeded' })],
  ['transient', 'status 500', answered(500)],
  [
    'transient',
    'status 500, whatever its message repeats',
    answered(500, {}, 'you asked: explain billing_service and its context window'),
  ],
  ['transient', 'status 529', answered(529, { type: 'overloaded_error' })],
  ['transient', 'an error in a 200, as OpenAI’s package reports it', inside200({ code: 'server_error' })],
  ['transient', 'a refused connection', network('ECONNREFUSED')],
  ['transient', 'a broken connection', network('UND_ERR_SOCKET')],
  ['transient', 'a body that is no JSON', answered(200, {}, 'Invalid JSON response')],
  ['transient', 'an overload in the stream', { type: 'overloaded_error', message: 'Overloaded' }],
  ['timeout', 'headers that do not come', network('UND_ERR_HEADERS_TIMEOUT')],
  ['timeout', 'a time-out signal', new DOMException('The operation timed out', 'TimeoutError')],
  ['context-length', "OpenAI's long prompt", answered(400, { code: 'context_length_exceeded' })],
  [
    'context-length',
    "Anthropic's long prompt",
    answered(400, {}, 'prompt is too long: 210000 tokens > 200000 maximum'),
  ],
  [
    'context-length',
    "Google's long prompt",
    answered(400, {}, 'The input token count (1200000) exceeds the maximum number of tokens allowed'),
  ],
  ['context-length', 'status 413', answered(413)],
  ['policy', "OpenAI's policy", answered(400, { code: 'content_policy_violation' })],
  ['policy', "Azure's filter", answered(400, { code: 'content_filter' })],
  ['request', 'an unknown parameter', answered(400, { code: 'unsupported_parameter' })],
  ['request', 'an unknown model', answered(404, { code: 'model_not_found' })],
  ['request', 'what the package cannot do', new UnsupportedFunctionalityError({ functionality: 'pdf' })],
]

describe('provider errors', () => {
  it.each(cases)('[MOD13] %s: %s', (kind, _, error) => {
    expect(toProviderError(error, origin).kind).toBe(kind)
  })

  it('[MOD13] tell the status for HTTP: a time-out is 504, a prompt that is too long the caller’s fault', () => {
    expect(toProviderError(network('UND_ERR_BODY_TIMEOUT'), origin).code).toBe('TIMEOUT')
    expect(toProviderError(answered(413), origin).code).toBe('INVALID_REQUEST')
    expect(toProviderError(answered(500), origin).code).toBe('PROVIDER_ERROR')
  })

  it('[MOD13] carry how long to wait, however the provider says it', () => {
    const now = Date.parse('2026-11-21T12:00:00Z')
    expect(retryAfterFrom({ 'retry-after-ms': '350' }, undefined, now)).toBe(350)
    expect(retryAfterFrom({ 'retry-after': '7' }, undefined, now)).toBe(7000)
    expect(retryAfterFrom({ 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, undefined, now)).toBe(30_000)
    expect(retryAfterFrom({}, '{"retryDelay": "34.5s"}', now)).toBe(34_500)
    expect(retryAfterFrom({ 'retry-after': '999999' }, undefined, now)).toBe(3_600_000)
    expect(retryAfterFrom({ 'retry-after': 'soon' }, '{}', now)).toBeUndefined()
  })

  it('[MOD14] hold neither key nor prompt, wherever one looks', () => {
    const echo = answered(400, { code: 'invalid_value' }, `Incorrect key ${secret}; you said: ${prompt}`)
    const error = toProviderError(new Error('wrapped', { cause: echo }), origin)
    const everything = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + error.stack
    expect(everything).not.toContain(secret)
    expect(everything).not.toContain(prompt)
    expect(error.message).toBe('openai does not accept this request (status 400, invalid_value)')
  })
})

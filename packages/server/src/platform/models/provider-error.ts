import { AISDKError, APICallError, LoadAPIKeyError, LoadSettingError } from '@ai-sdk/provider'
import type { ErrorCode } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { retryAfterFrom } from './retry-after.ts'

/**
 * Why a provider did not answer, as far as it decides what to do next:
 * - `transient`: worth another attempt, here or elsewhere
 * - `key`: the credential or the account behind it; nothing helps but an administrator
 * - `context-length`: the conversation is too long for this model
 * - `policy`: the provider refuses this content
 * - `request`: the provider does not understand what it was sent
 * - `timeout`: no answer in time
 */
export type ProviderErrorKind = 'transient' | 'key' | 'context-length' | 'policy' | 'request' | 'timeout'

const codes: Record<ProviderErrorKind, ErrorCode> = {
  transient: 'PROVIDER_ERROR',
  key: 'PROVIDER_ERROR',
  'context-length': 'INVALID_REQUEST',
  policy: 'INVALID_REQUEST',
  request: 'PROVIDER_ERROR',
  timeout: 'TIMEOUT',
}

const sentences: Record<ProviderErrorKind, string> = {
  transient: 'is failing at the moment',
  key: 'does not accept the configured key or account',
  'context-length': 'cannot take a conversation this long',
  policy: 'refuses this content',
  request: 'does not accept this request',
  timeout: 'did not answer in time',
}

/** Which model of which provider failed. */
export interface ProviderErrorOrigin {
  provider: string
  model: string
}

/** A failure of a model provider. Holds nothing that was sent: neither key nor prompt, not as cause either. */
export class ProviderError extends AppError {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  readonly provider: string
  readonly model: string
  /** HTTP status of the provider's answer, if there was one */
  readonly status: number | undefined
  /** how long the provider asks to wait */
  readonly retryAfterMilliseconds: number | undefined
  /** the provider's or the network's own code, such as `rate_limit_exceeded` or `ECONNREFUSED` */
  readonly reason: string | undefined

  constructor(
    kind: ProviderErrorKind,
    origin: ProviderErrorOrigin,
    facts: { status?: number; retryAfterMilliseconds?: number; reason?: string } = {},
  ) {
    const parts = [facts.status === undefined ? undefined : `status ${facts.status}`, facts.reason]
    const known = parts.filter((part) => part !== undefined).join(', ')
    super(codes[kind], `${origin.provider} ${sentences[kind]}${known === '' ? '' : ` (${known})`}`, {
      details: { provider: origin.provider, model: origin.model, kind, ...facts },
    })
    this.kind = kind
    this.provider = origin.provider
    this.model = origin.model
    this.status = facts.status
    this.retryAfterMilliseconds = facts.retryAfterMilliseconds
    this.reason = facts.reason
  }
}

/** Turns whatever a provider package throws, or streams as an error part, into a ProviderError. */
export function toProviderError(error: unknown, origin: ProviderErrorOrigin): ProviderError {
  if (error instanceof ProviderError) return error
  const facts = factsOf(error)
  const retryAfterMilliseconds = retryAfterFrom(facts.headers, facts.body)
  return new ProviderError(kindOf(error, facts), origin, {
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
  })
}

interface Facts {
  status: number | undefined
  /** machine-readable, safe to show */
  reason: string | undefined
  /** prose of the provider: read to classify, never passed on */
  prose: string
  headers: Record<string, string> | undefined
  body: string | undefined
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT', 'TimeoutError'])

function kindOf(error: unknown, { status, reason = '', prose }: Facts): ProviderErrorKind {
  if (LoadAPIKeyError.isInstance(error) || LoadSettingError.isInstance(error)) return 'key'
  if (timeouts.has(reason)) return 'timeout'
  if (status !== undefined && (status >= 500 || [408, 409, 425].includes(status))) return 'transient'
  // Prose is read only where the status leaves the question open: it may repeat what was sent.
  const text = `${reason} ${prose}`
  if (isAccount(text)) return 'key'
  if (status === 429) return 'transient'
  if (status === 401 || status === 402 || status === 403) return isPolicy(text) ? 'policy' : 'key'
  if (status === 413 || isTooLong(text)) return 'context-length'
  if (isPolicy(text)) return 'policy'
  if (/^(server_error|overloaded_error|rate_limit_exceeded)$/.test(reason)) return 'transient'
  if (status !== undefined && status >= 400) return 'request'
  if (/rate_limit|overloaded|server_error|api_error|unavailable|timeout_error/i.test(text)) return 'transient'
  if (/invalid_request|not_found|INVALID_ARGUMENT/i.test(reason)) return 'request'
  return AISDKError.isInstance(error) && isOurFault(error) ? 'request' : 'transient'
}

function isAccount(text: string): boolean {
  return /insufficient_quota|billing_\w+|plan and billing|credit balance is too low|invalid_api_key|API_KEY_INVALID/i.test(
    text,
  )
}

function isTooLong(text: string): boolean {
  return /context_length_exceeded|string_above_max_length|request_too_large|context (length|window)|maximum context|(prompt|input) is too long|exceeds? the (maximum|model).{0,40}tokens|input token count.{0,60}exceed|reduce the length/i.test(
    text,
  )
}

function isPolicy(text: string): boolean {
  return /content_policy|content_filter|moderation|policy.?violation|violat\w+ .{0,40}polic|safety (system|setting|reason)|PROHIBITED_CONTENT/i.test(
    text,
  )
}

/** Errors that a provider package raises about the call itself, before anything is sent. */
function isOurFault(error: AISDKError): boolean {
  return /InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel|TooManyEmbeddingValues/.test(
    error.name,
  )
}

function factsOf(error: unknown): Facts {
  const parts = chainOf(error)
  const call = parts.find((part) => APICallError.isInstance(part))
  const record = parts.map(asRecord)
  const body = bodyOf(call)
  const status = call?.statusCode ?? firstNumber(record.map((part) => part.statusCode ?? part.status))
  return {
    // A successful status with a broken body says nothing about the failure.
    status: status !== undefined && status >= 400 ? status : undefined,
    reason: reasonOf(call, record),
    prose: [...record.map((part) => part.message), body]
      .filter((text) => typeof text === 'string')
      .join(' ')
      .slice(0, 4000),
    headers: call?.responseHeaders,
    body: body?.slice(0, 20_000),
  }
}

/** OpenAI's package puts the body of an error in a 200 there as it was parsed, against its type. */
function bodyOf(call: APICallError | undefined): string | undefined {
  const body: unknown = call?.responseBody
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
}

/** The provider's code before the network's: `error.code` of the body, then the codes along the chain of causes. */
function reasonOf(call: APICallError | undefined, chain: Record<string, unknown>[]): string | undefined {
  const answered = call?.data ?? call?.responseBody
  const data = asRecord(asRecord(answered).error ?? answered)
  const candidates = [
    data.code,
    data.type,
    data.status,
    ...chain.flatMap((part) => [part.code, part.type, asRecord(part.error).type]),
    ...chain.map((part) => (part.name === 'TimeoutError' ? part.name : undefined)),
  ]
  return candidates.find(
    (candidate): candidate is string => typeof candidate === 'string' && /^[\w.-]{2,60}$/.test(candidate),
  )
}

/** The error, its `data` and its causes, at most five deep. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (
    let part = error;
    part !== undefined && part !== null && chain.length < 5;
    part = asRecord(part).cause
  ) {
    chain.push(part)
  }
  return chain
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function firstNumber(values: unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number')
}

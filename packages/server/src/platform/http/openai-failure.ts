import type { ErrorCode } from '@atelier/contract'
import type { AppError } from '../../base/app-error.ts'

/** Whether a path speaks OpenAI's dialect, in which failures have another shape. */
export function speaksOpenAi(url: string): boolean {
  return url.startsWith('/v1/')
}

/** The words of OpenAI's API for our codes; what is not named is `server_error`. */
const types: Partial<Record<ErrorCode, [type: string, code: string | null]>> = {
  INVALID_REQUEST: ['invalid_request_error', null],
  VALIDATION_ERROR: ['invalid_request_error', null],
  UNAUTHORIZED: ['authentication_error', 'invalid_api_key'],
  FORBIDDEN: ['permission_error', null],
  NOT_FOUND: ['invalid_request_error', 'not_found'],
  METHOD_NOT_ALLOWED: ['invalid_request_error', null],
  CONFLICT: ['invalid_request_error', null],
  PAYLOAD_TOO_LARGE: ['invalid_request_error', null],
  UNSUPPORTED_MEDIA_TYPE: ['invalid_request_error', null],
  RATE_LIMITED: ['rate_limit_error', 'rate_limit_exceeded'],
}

/** The failure as OpenAI's clients read it. */
export function openAiFailure({ code, message, details }: AppError) {
  const [type, usualCode] = types[code] ?? ['server_error', null]
  return { error: { message, type, param: details?.field ?? null, code: codeOf(details) ?? usualCode } }
}

/** Kinds that clients act on. */
function codeOf(details: AppError['details']): string | undefined {
  if (typeof details?.openAiCode === 'string') return details.openAiCode
  if (details?.kind === 'context-length') return 'context_length_exceeded'
  if (details?.kind === 'policy') return 'content_policy_violation'
  return details?.kind === 'budget' ? 'insufficient_quota' : undefined
}

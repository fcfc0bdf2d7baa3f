import { z } from 'zod'

/** The one table of error codes: code -> HTTP status. Section 7 of the specification plus api.md's additions. */
export const errorStatus = {
  INVALID_REQUEST: 400,
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  PROVIDER_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
  TIMEOUT: 504,
} as const

export type ErrorCode = keyof typeof errorStatus

export const ErrorCode = z.enum(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]])

export const ValidationIssue = z.object({
  field: z.string().describe('dotted path of the parameter, e.g. `messages.0.content`'),
  issue: z.string().describe('what is wrong with it'),
})
export type ValidationIssue = z.infer<typeof ValidationIssue>

/** `field` and `issue` name the first fault; `issues` lists all of them; other keys carry data of the code. */
export const ErrorDetails = z.looseObject({
  field: z.string().optional(),
  issue: z.string().optional(),
  issues: z.array(ValidationIssue).optional(),
})
export type ErrorDetails = z.infer<typeof ErrorDetails>

export const ErrorBody = z.object({
  code: ErrorCode,
  message: z.string(),
  details: ErrorDetails.optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

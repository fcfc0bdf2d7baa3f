import { errorStatus } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'

/** What Fastify and its multipart parser call a fault, in our words. */
const frameworkFaults: Record<string, () => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: tooLarge,
  FST_REQ_FILE_TOO_LARGE: tooLarge,
  FST_FILES_LIMIT: () => new AppError('PAYLOAD_TOO_LARGE', 'Too many files in one request'),
  FST_PARTS_LIMIT: () => new AppError('PAYLOAD_TOO_LARGE', 'Too many parts in one request'),
  FST_FIELDS_LIMIT: () => new AppError('PAYLOAD_TOO_LARGE', 'Too many fields in one request'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type is not one that this endpoint accepts'),
  FST_INVALID_MULTIPART_CONTENT_TYPE: () =>
    new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be multipart/form-data'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new AppError('INVALID_REQUEST', 'The body is not valid JSON'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new AppError('INVALID_REQUEST', 'A JSON body is required'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('INVALID_REQUEST', 'The body does not have the length that Content-Length announces'),
  FST_ERR_BAD_URL: () => new AppError('INVALID_REQUEST', 'The URL is not valid'),
  ECONNRESET: () => new AppError('INVALID_REQUEST', 'The connection ended before the request did'),
}

/** The one place where an unknown error becomes ours. What is not known is INTERNAL_ERROR with the original as cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { code, statusCode } = faultOf(error)
  const known = code === undefined ? undefined : frameworkFaults[code]
  if (known) return known()
  if (statusCode === 400)
    return new AppError('INVALID_REQUEST', 'The request cannot be read', { cause: error })
  if (statusCode === 413) return tooLarge()
  // The client has gone, or the server stops: nobody reads the answer, and it is no fault to log.
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new AppError('INVALID_REQUEST', 'The connection ended before the answer')
  }
  return new AppError('INTERNAL_ERROR', 'Something failed on our side', { cause: error })
}

/** HTTP status of an error. */
export function statusOf(error: AppError): number {
  return errorStatus[error.code]
}

function tooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this endpoint accepts')
}

function faultOf(error: unknown): { code?: string; statusCode?: number } {
  if (typeof error !== 'object' || error === null) return {}
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
  }
}

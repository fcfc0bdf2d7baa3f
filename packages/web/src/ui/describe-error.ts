import { ApiError, type ClientErrorCode } from '@atelier/client'

export interface ErrorWords {
  /** what happened */
  title: string
  /** what to try; null where the message says all */
  advice: string | null
}

const words: Record<ClientErrorCode, ErrorWords> = {
  INVALID_REQUEST: { title: 'The request could not be read', advice: 'Reload the page and try again.' },
  VALIDATION_ERROR: { title: 'Something in the request is not right', advice: null },
  UNAUTHORIZED: { title: 'You are signed out', advice: 'Sign in again; you come back to this place.' },
  FORBIDDEN: { title: 'Your role does not allow this', advice: 'Ask an owner of the workspace.' },
  NOT_FOUND: { title: 'Not found', advice: 'It may have been moved or deleted.' },
  METHOD_NOT_ALLOWED: {
    title: 'The server does not know this action',
    advice: 'Reload the page: it may be newer.',
  },
  CONFLICT: { title: 'This collides with something that is already there', advice: null },
  PAYLOAD_TOO_LARGE: { title: 'Too large', advice: 'Send less at once.' },
  UNSUPPORTED_MEDIA_TYPE: { title: 'This kind of file is not taken', advice: null },
  RATE_LIMITED: { title: 'Too many requests', advice: null },
  INTERNAL_ERROR: {
    title: 'The server failed',
    advice: 'Try again. If it stays, give the request id to whoever runs this server.',
  },
  PROVIDER_ERROR: { title: 'The model provider failed', advice: 'Try again, or choose another model.' },
  SERVICE_UNAVAILABLE: { title: 'The service is not available', advice: 'Try again in a moment.' },
  TIMEOUT: { title: 'It took too long', advice: 'Try again, or choose another model.' },
  NETWORK_ERROR: {
    title: 'The server cannot be reached',
    advice: 'Check that it runs and that you are connected.',
  },
  BAD_ANSWER: {
    title: 'The answer could not be read',
    advice: 'Reload the page; a proxy may be in between.',
  },
}

/** A refusal that waiting for a moment does not mend. */
const budgetWords: ErrorWords = {
  title: 'The budget does not suffice',
  advice: 'Choose a cheaper model, or ask whoever runs this server for more.',
}

export function describeCode(code: ClientErrorCode): ErrorWords {
  return words[code]
}

/** The words for any thrown value; one that is not the server's is a fault of the page and says so. */
export function describeError(error: unknown): ErrorWords & { message: string } {
  if (error instanceof ApiError) {
    const said = error.details?.kind === 'budget' ? budgetWords : words[error.code]
    return { ...said, message: error.message }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { title: 'This page failed', advice: 'Reload the page.', message }
}

/** One line, for a toast. */
export function errorLine(error: unknown): string {
  const { title, message } = describeError(error)
  return message === '' ? title : `${title}: ${message}`
}

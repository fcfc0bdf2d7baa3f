import type { FailureEnvelope, SuccessEnvelope } from '@atelier/contract'
import type { AppError } from '../../base/app-error.ts'

export function success<Data>(data: Data, message: string, requestId: string): SuccessEnvelope<Data> {
  return { success: true, data, message, timestamp: new Date().toISOString(), requestId }
}

export function failure(error: AppError, requestId: string): FailureEnvelope {
  const { code, message, details } = error
  return {
    success: false,
    error: { code, message, ...(details ? { details } : {}) },
    timestamp: new Date().toISOString(),
    requestId,
  }
}

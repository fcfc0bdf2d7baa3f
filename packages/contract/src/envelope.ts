import { z } from 'zod'
import { ErrorBody } from './errors.ts'

/** An inbound request id is taken only if it has this form (and the peer is a trusted proxy). */
export const requestIdPattern = /^req_[A-Za-z0-9]{8,64}$/

const RequestId = z.string().regex(requestIdPattern)
const Timestamp = z.iso.datetime()

export function successEnvelope<Data extends z.ZodType>(data: Data) {
  return z.object({
    success: z.literal(true),
    data,
    message: z.string(),
    timestamp: Timestamp,
    requestId: RequestId,
  })
}

export const FailureEnvelope = z.object({
  success: z.literal(false),
  error: ErrorBody,
  timestamp: Timestamp,
  requestId: RequestId,
})
export type FailureEnvelope = z.infer<typeof FailureEnvelope>

export interface SuccessEnvelope<Data> {
  success: true
  data: Data
  message: string
  timestamp: string
  requestId: string
}

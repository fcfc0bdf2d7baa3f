import type { Logger } from 'pino'

/** Something about credentials that an administrator may want to look back at. Never holds a secret. */
export type SecurityEvent =
  | { type: 'signed-up'; userId: string; email: string; address: string }
  | { type: 'sign-up-refused'; email: string; address: string; reason: 'address-taken' }
  | { type: 'signed-in'; userId: string; email: string; address: string }
  | {
      type: 'sign-in-refused'
      email: string
      address: string
      reason: 'wrong-password-or-address' | 'too-many-failures' | 'banned'
    }
  | { type: 'signed-out'; userId: string; sessionId: string }
  | { type: 'token-issued'; userId: string; sessionId: string }
  | { type: 'api-key-created'; userId: string; apiKeyId: string; scopes: readonly string[] }
  | { type: 'api-key-revoked'; userId: string; apiKeyId: string }
  | CredentialRefused

/** A request with a credential that does not hold. `userId` is given where the credential is genuine but ended. */
export interface CredentialRefused {
  type: 'credential-refused'
  credential: 'cookie' | 'token' | 'api-key'
  reason: 'unknown' | 'session-ended' | 'key-revoked' | 'key-expired' | 'banned' | 'different-principals'
  userId?: string
  /** of the peer, which may be a proxy */
  address: string
}

/** Must not throw and must not wait: it is called in the middle of requests. */
export type OnSecurityEvent = (event: SecurityEvent) => void

/** The log as the place of security events. */
export function logSecurityEvents(logger: Logger): OnSecurityEvent {
  return (event) => logger.info({ securityEvent: event }, `security: ${event.type}`)
}

import { randomUUID } from 'node:crypto'
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../../base/clock.ts'
import { signingAlgorithm } from './signing-key.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Seconds a token is good for; the session behind it may end earlier. */
export const tokenLifetimeSeconds = 10 * 60

/** So that a token made for another purpose with the same keys is none of these (RFC 8725, section 3.11). */
const tokenType = 'JWT'

/** How long the public keys are kept: a key that an operator deletes from the database verifies no longer than this. */
const keySetAgeMilliseconds = 5 * 60_000

/** Bounds the look-ups that made-up key ids can cause. */
const reloadIntervalMilliseconds = 1_000

/** What a token says: who, in which session, until when. */
export interface TokenClaims {
  userId: string
  sessionId: string
  /** milliseconds since the epoch */
  expiresAt: number
}

export interface AccessTokens {
  /** A signed JWT with the claims `sub sid jti iat exp iss aud`, and nothing else. */
  issue(who: { userId: string; sessionId: string }): Promise<{ token: string; expiresAt: Date }>
  /**
   * The claims of a token of ours that is signed by a current key and has not ended, else `null`. Says nothing about
   * the session: the caller looks that up. Throws what the key store throws.
   */
  verify(token: string): Promise<TokenClaims | null>
  /** The public keys, for `jwks`. */
  publicKeys(): Promise<JWK[]>
}

/** `issuer` is also the audience: these tokens are for this server only. */
export function createAccessTokens(options: {
  keys: SigningKeys
  issuer: string
  clock: Clock
}): AccessTokens {
  const { keys, issuer, clock } = options
  let keySet: JWTVerifyGetKey | undefined
  let loadedAt = Number.NEGATIVE_INFINITY

  async function loadKeys(): Promise<JWTVerifyGetKey> {
    loadedAt = clock()
    keySet = createLocalJWKSet({ keys: await keys.publicKeys() })
    return keySet
  }

  async function currentKeys(): Promise<JWTVerifyGetKey> {
    return keySet && clock() - loadedAt < keySetAgeMilliseconds ? keySet : loadKeys()
  }

  async function check(token: string, set: JWTVerifyGetKey): Promise<TokenClaims> {
    const { payload } = await jwtVerify(token, set, {
      algorithms: [signingAlgorithm],
      issuer,
      audience: issuer,
      typ: tokenType,
      requiredClaims: ['sub', 'sid', 'jti', 'iat', 'exp'],
      currentDate: new Date(clock()),
    })
    const { sub, sid, exp } = payload
    if (typeof sub !== 'string' || typeof sid !== 'string' || exp === undefined) {
      throw new errors.JWTInvalid('a claim has another type')
    }
    return { userId: sub, sessionId: sid, expiresAt: exp * 1000 }
  }

  /** Another node may have made a key since: its tokens name a `kid` that is unknown here. */
  async function checkWithCurrentKeys(token: string): Promise<TokenClaims> {
    try {
      return await check(token, await currentKeys())
    } catch (error) {
      const unknownKey = error instanceof errors.JWKSNoMatchingKey
      if (!unknownKey || clock() - loadedAt < reloadIntervalMilliseconds) throw error
      return check(token, await loadKeys())
    }
  }

  return {
    async issue({ userId, sessionId }) {
      const issuedAt = Math.floor(clock() / 1000)
      const expiresAt = issuedAt + tokenLifetimeSeconds
      const { id, privateKey } = await keys.current()
      const token = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: signingAlgorithm, kid: id, typ: tokenType })
        .setSubject(userId)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .setIssuer(issuer)
        .setAudience(issuer)
        .sign(privateKey)
      return { token, expiresAt: new Date(expiresAt * 1000) }
    },
    async verify(token) {
      if (!hasCanonicalSignature(token)) return null
      try {
        return await checkWithCurrentKeys(token)
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
    publicKeys: () => keys.publicKeys(),
  }
}

/** The last character of base64url has spare bits: with others there, the text differs and the signature is the same. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

import type { CryptoKey, JWK } from 'jose'
import { ulid } from 'ulid'
import type { Clock } from '../../base/clock.ts'
import { generateSigningKey, openSigningKey, type StoredSigningKey } from './signing-key.ts'

/** How long one key signs. */
export const signingPeriodMilliseconds = 30 * 24 * 60 * 60 * 1000

/** How long a key verifies after it stopped signing: far more than a token lives, so caches of JWKS may be a day old. */
export const verifyingGraceMilliseconds = 24 * 60 * 60 * 1000

/** Where key pairs live. */
export interface SigningKeyStore {
  /** all keys that stopped signing after `since`, newest first */
  list(since: Date): Promise<StoredSigningKey[]>
  add(key: StoredSigningKey): Promise<void>
  /** removes the keys that stopped signing before `before` */
  prune(before: Date): Promise<void>
}

export interface SigningKeys {
  /** the key that signs now; made when there is none, the last one is too old, or it cannot be decrypted */
  current(): Promise<{ id: string; privateKey: CryptoKey }>
  /** every key whose tokens still count; never empty */
  publicKeys(): Promise<JWK[]>
}

export function createSigningKeys(options: {
  store: SigningKeyStore
  secret: string
  clock: Clock
}): SigningKeys {
  const { store, secret, clock } = options
  let signing: { id: string; privateKey: CryptoKey; until: number } | undefined
  let finding: Promise<{ id: string; privateKey: CryptoKey }> | undefined

  const listVerifying = () => store.list(new Date(clock() - verifyingGraceMilliseconds))

  async function find(): Promise<{ id: string; privateKey: CryptoKey }> {
    const now = clock()
    for (const stored of await store.list(new Date(now))) {
      const privateKey = await openSigningKey(stored, secret)
      if (privateKey) return use(stored, privateKey)
    }
    const made = await generateSigningKey({
      id: `jwk_${ulid()}`,
      secret,
      createdAt: new Date(now),
      expiresAt: new Date(now + signingPeriodMilliseconds),
    })
    await store.add(made)
    await store.prune(new Date(now - verifyingGraceMilliseconds))
    return use(made, await open(made))
  }

  function use(stored: StoredSigningKey, privateKey: CryptoKey) {
    signing = { id: stored.id, privateKey, until: stored.expiresAt.getTime() }
    return signing
  }

  async function open(made: StoredSigningKey): Promise<CryptoKey> {
    const privateKey = await openSigningKey(made, secret)
    if (!privateKey) throw new Error('a signing key that was just made does not open')
    return privateKey
  }

  async function current() {
    if (signing && clock() < signing.until) return signing
    // Requests that come together share one search: each would make a key of its own.
    finding ??= find().finally(() => {
      finding = undefined
    })
    return finding
  }

  return {
    current,
    async publicKeys() {
      await current()
      return (await listVerifying()).map(({ publicKey }) => publicKey)
    },
  }
}

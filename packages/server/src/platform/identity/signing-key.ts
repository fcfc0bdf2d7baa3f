import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'

/** The one algorithm of our tokens (RFC 8037, Ed25519). */
export const signingAlgorithm = 'EdDSA'

/** A key pair as it is stored. */
export interface StoredSigningKey {
  /** the `kid` of the tokens it signs */
  id: string
  publicKey: JWK
  /** nonce (12 bytes), authentication tag (16), AES-256-GCM of the private JWK; bound to `id` */
  encryptedPrivateKey: Buffer
  createdAt: Date
  /** when it stops signing */
  expiresAt: Date
}

export async function generateSigningKey(options: {
  id: string
  secret: string
  createdAt: Date
  expiresAt: Date
}): Promise<StoredSigningKey> {
  const { id, secret, createdAt, expiresAt } = options
  const pair = await generateKeyPair(signingAlgorithm, { extractable: true })
  const publicKey = { ...(await exportJWK(pair.publicKey)), kid: id, alg: signingAlgorithm, use: 'sig' }
  const privateKey = JSON.stringify(await exportJWK(pair.privateKey))
  return { id, publicKey, encryptedPrivateKey: encrypt(privateKey, id, secret), createdAt, expiresAt }
}

/** The private half, or `null` when it was encrypted under another secret. */
export async function openSigningKey(stored: StoredSigningKey, secret: string): Promise<CryptoKey | null> {
  const text = decrypt(stored.encryptedPrivateKey, stored.id, secret)
  if (text === null) return null
  return (await importJWK(JSON.parse(text) as JWK, signingAlgorithm)) as CryptoKey
}

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

function encrypt(text: string, id: string, secret: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, encryptionKey(secret), nonce).setAAD(Buffer.from(id))
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
  return Buffer.concat([nonce, sealing.getAuthTag(), sealed])
}

function decrypt(bytes: Buffer, id: string, secret: string): string | null {
  const nonce = bytes.subarray(0, nonceBytes)
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  const opening = createDecipheriv(cipher, encryptionKey(secret), nonce, { authTagLength: tagBytes })
  opening.setAAD(Buffer.from(id)).setAuthTag(tag)
  const start = opening.update(bytes.subarray(nonceBytes + tagBytes))
  try {
    return Buffer.concat([start, opening.final()]).toString('utf8')
  } catch {
    // Node says no more than "unable to authenticate data": another secret, or other bytes.
    return null
  }
}

/** A key of its own for this purpose, so that nothing else made from the secret opens these bytes. */
function encryptionKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'atelier signing keys', 32))
}

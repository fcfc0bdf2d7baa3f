import type { JWK } from 'jose'
import type { Database } from '../../platform/db/database.ts'
import type { SigningKeyStore } from '../../platform/identity/signing-keys.ts'

export function createSigningKeyStore({ database }: { database: Database }): SigningKeyStore {
  const { kysely } = database
  return {
    async list(since) {
      const rows = await kysely
        .selectFrom('jwks')
        .selectAll()
        .where('expires_at', '>', since)
        .orderBy('created_at', 'desc')
        .execute()
      return rows.map((row) => ({
        id: row.id,
        // Written below, and by nobody else.
        publicKey: row.public_key as JWK,
        encryptedPrivateKey: row.encrypted_private_key,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      }))
    },

    async add({ id, publicKey, encryptedPrivateKey, createdAt, expiresAt }) {
      await kysely
        .insertInto('jwks')
        .values({
          id,
          public_key: JSON.stringify(publicKey),
          encrypted_private_key: encryptedPrivateKey,
          created_at: createdAt,
          expires_at: expiresAt,
        })
        .execute()
    },

    async prune(before) {
      await kysely.deleteFrom('jwks').where('expires_at', '<', before).execute()
    },
  }
}

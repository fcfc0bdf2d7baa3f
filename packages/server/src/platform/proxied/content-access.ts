import { LRUCache } from 'lru-cache'
import { AppError } from '../../base/app-error.ts'
import type { Principal } from '../identity/principal.ts'
import type { ContentHolder } from './content-pass.ts'
import type { ContentServerOptions, ContentTarget } from './content-server.ts'

/** A page makes hundreds of requests in a second; leaving a workspace takes effect within this many milliseconds. */
const rememberMilliseconds = 5_000

const maxRemembered = 10_000

export interface ContentAccess {
  /** Throws UNAUTHORIZED when the sign-in has ended, NOT_FOUND or FORBIDDEN as the guard does. */
  check(holder: ContentHolder, target: ContentTarget): Promise<void>
}

export function createContentAccess({
  guard,
  stillValid,
}: Pick<ContentServerOptions, 'guard' | 'stillValid'>): ContentAccess {
  const allowed = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberMilliseconds })
  return {
    async check({ userId, sessionId }, { workspaceId, least }) {
      const key = `${sessionId} ${workspaceId} ${least}`
      if (allowed.has(key)) return
      const principal: Principal = { kind: 'cookie', userId, sessionId, admin: false }
      if (!(await stillValid(principal)))
        throw new AppError('UNAUTHORIZED', 'You have signed out; sign in again')
      await guard(principal, workspaceId, least)
      allowed.set(key, true)
    },
  }
}

import { describe, expect, it } from 'vitest'
import type { Credential } from './credentials.ts'
import { createPrincipalCache, type Identified, principalAgeMilliseconds } from './principal-cache.ts'

const credential: Credential = { kind: 'token', text: 'a.b.c' }

function identified(userId: string, expiresAt = Number.POSITIVE_INFINITY): Identified {
  return { principal: { kind: 'token', userId, sessionId: 'ses_1', admin: false }, expiresAt }
}

function setUp() {
  let now = 1_000_000
  let looks = 0
  const cache = createPrincipalCache({ clock: () => now })
  return {
    cache,
    looks: () => looks,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    now: () => now,
    resolve: (answer: Identified = identified('usr_1'), what = credential) =>
      cache.resolve(what, async () => {
        looks += 1
        return answer
      }),
  }
}

describe('remembered principals', () => {
  it('[AUTH45] a good credential is looked up once in five seconds', async () => {
    const { resolve, looks, pass } = setUp()
    await resolve()
    pass(principalAgeMilliseconds - 1)
    expect(await resolve()).toMatchObject({ userId: 'usr_1' })
    expect(looks()).toBe(1)
    pass(1)
    await resolve()
    expect(looks()).toBe(2)
  })

  it('[AUTH45] nothing is remembered beyond the end of the credential itself', async () => {
    const { resolve, looks, pass, now } = setUp()
    await resolve(identified('usr_1', now() + 1_000))
    pass(1_000)
    await resolve()
    expect(looks()).toBe(2)
  })

  it('[AUTH45] the same text as another kind of credential is another credential', async () => {
    const { resolve, looks } = setUp()
    await resolve()
    await resolve(identified('usr_2'), { ...credential, kind: 'cookie' })
    expect(looks()).toBe(2)
  })

  it('[AUTH45] a revocation counts at once, also against a look-up that is under way', async () => {
    const { cache, resolve, looks } = setUp()
    await resolve()
    cache.forgetAll()
    await resolve()
    expect(looks()).toBe(2)

    cache.forgetAll()
    const slow = Promise.withResolvers<Identified>()
    const underWay = cache.resolve(credential, () => slow.promise)
    cache.forgetAll()
    slow.resolve(identified('usr_1'))
    await underWay
    await resolve()
    expect(looks()).toBe(3)
  })

  it('[AUTH45] requests that come together share one look-up', async () => {
    const { cache, resolve, looks } = setUp()
    const slow = Promise.withResolvers<Identified>()
    const first = cache.resolve(credential, () => slow.promise)
    const second = resolve()
    slow.resolve(identified('usr_1'))
    expect(await first).toBe(await second)
    expect(looks()).toBe(0)
  })

  it('[AUTH44] a look-up that fails is asked again, not remembered', async () => {
    const { cache, resolve, looks } = setUp()
    await expect(cache.resolve(credential, () => Promise.reject(new Error('no database')))).rejects.toThrow(
      'no database',
    )
    await resolve()
    expect(looks()).toBe(1)
  })
})

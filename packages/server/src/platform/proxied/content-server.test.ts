import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { createCallerAddress } from '../http/caller-address.ts'
import { createRateLimiter } from '../http/rate-limiter.ts'
import { grantWorkspaceScope } from '../identity/workspace-scope.ts'
import { createContentNames } from './content-names.ts'
import { createContentPasses } from './content-pass.ts'
import { createContentServer } from './content-server.ts'

const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const names = createContentNames({ domain: undefined, baseUrl: undefined })
const passes = createContentPasses({ secret: 'a secret of at least 32 characters', clock: Date.now })
const label = names.labelOf({ kind: 'port', port: 5173, workspaceId })
const pass = `atelier.content=${passes.issuePass({ userId: 'usr_a', sessionId: 'ses_a', label })}`

/** Content hosts on loopback, in front of a program that answers the beginning and never the end. */
async function serve(options: {
  trustProxy?: string[]
  requestsPerMinute?: number
  stillValid?: () => Promise<boolean>
  checkMilliseconds?: number
}) {
  await using stack = new AsyncDisposableStack()
  const program = createServer((_request, response) => void response.write('begun'))
  const programPort = await listen(program, stack)
  const most = options.requestsPerMinute ?? 1_000
  const limits = { standard: most, ai: most, upload: most, probe: most, static: most }
  const limiter = createRateLimiter({ limits, clock: () => 0 })
  const content = createContentServer({
    names,
    passes,
    baseUrl: undefined,
    issuer: 'urn:atelier',
    find: () => ({
      workspaceId,
      least: 'editor',
      stripAuthorization: false,
      connect: async () => connect(programPort, '127.0.0.1'),
      used: () => undefined,
    }),
    guard: async ({ userId }, id, role) => grantWorkspaceScope({ workspaceId: id, userId, role }),
    stillValid: options.stillValid ?? (async () => true),
    addressOf: createCallerAddress(options.trustProxy ?? false),
    limit(caller) {
      if (!limiter.consume('static', caller).allowed) throw new AppError('RATE_LIMITED', 'Too many requests')
    },
    logger: { error: () => undefined, warn: () => undefined },
    checkMilliseconds: options.checkMilliseconds,
  })
  const port = await listen(createServer(content.handle), stack)
  stack.use(content)
  const owned = stack.move()
  return {
    async ask(headers: Record<string, string>): Promise<number | undefined> {
      const host = `${label}.localhost:${port}`
      const outgoing = httpRequest({ host: '127.0.0.1', port, headers: { ...headers, host } }).end()
      owned.defer(() => void outgoing.on('error', () => undefined).destroy())
      const [response] = await once(outgoing, 'response')
      return response.statusCode
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function listen(server: Server, stack: AsyncDisposableStack): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

it('[PREV19] who has no pass is counted by the address that a trusted proxy forwards for, IPv6 by /64', async () => {
  await using site = await serve({ trustProxy: ['127.0.0.1'], requestsPerMinute: 1 })
  const from = (address: string) => site.ask({ 'x-forwarded-for': address })
  expect(await from('203.0.113.7')).toBe(401)
  expect(await from('203.0.113.7')).toBe(429)
  expect(await from('203.0.113.8')).toBe(401)
  expect(await from('2001:db8::1')).toBe(401)
  expect(await from('2001:db8::2')).toBe(429)
  expect(await from('2001:db8:0:1::1')).toBe(401)
})

it('[PREV19] nobody else chooses the address that they are counted by', async () => {
  await using site = await serve({ requestsPerMinute: 1 })
  expect(await site.ask({ 'x-forwarded-for': '203.0.113.7' })).toBe(401)
  expect(await site.ask({ 'x-forwarded-for': '203.0.113.8' })).toBe(429)
})

it('[PREV17] what is open is not looked at again while a slow database still answers', async () => {
  const asked = { times: 0, atOnce: 0, most: 0 }
  await using site = await serve({
    checkMilliseconds: 10,
    async stillValid() {
      asked.times += 1
      asked.atOnce += 1
      asked.most = Math.max(asked.most, asked.atOnce)
      if (asked.times > 1) await sleep(100)
      asked.atOnce -= 1
      if (asked.times > 1) throw new Error('the database does not answer')
      return true
    },
  })
  expect(await site.ask({ cookie: pass })).toBe(200)
  // The first answer is remembered for seconds.
  await expect.poll(() => asked.times, { timeout: 60_000 }).toBeGreaterThan(3)
  expect(asked.most).toBe(1)
}, 90_000)

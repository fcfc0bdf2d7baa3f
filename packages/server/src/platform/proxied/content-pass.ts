import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Clock } from '../../base/clock.ts'

/** How long a pass opens one content host before it is asked for again, unseen by the person. */
const passMilliseconds = 12 * 3_600_000

/** From the redirect that carries a ticket to the request that redeems it. */
const ticketMilliseconds = 30_000

/** Redeemed tickets that are remembered: all of their lifetime at 300 a second. */
const maxRedeemed = 10_000

const Holder = z.strictObject({
  userId: z.string(),
  /** the signed-in session: when that ends, so does the pass */
  sessionId: z.string(),
  /** the one content host it opens */
  label: z.string(),
})
/** Who may reach one content host. */
export type ContentHolder = z.infer<typeof Holder>

const Pass = Holder.extend({ use: z.literal('pass'), expiresAt: z.number() })
const Ticket = Holder.extend({
  use: z.literal('ticket'),
  expiresAt: z.number(),
  id: z.string(),
  /** hash of what the browser that asked keeps in a cookie */
  binding: z.string(),
})

/** Signed values that let a browser in at a content host. They are worth nothing at the platform itself. */
export interface ContentPasses {
  /** What the content host's cookie holds. */
  issuePass(holder: ContentHolder): string
  readPass(text: string, label: string): ContentHolder | null
  /** For an address: works once, at one host, in the browser that holds `nonce`. */
  issueTicket(holder: ContentHolder, binding: string): string
  redeemTicket(ticket: string, expected: { label: string; nonce: string }): ContentHolder | null
  newNonce(): string
  bindingOf(nonce: string): string
}

export function createContentPasses({ secret, clock }: { secret: string; clock: Clock }): ContentPasses {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'atelier proxied content', 32))
  const redeemed = new LRUCache<string, true>({ max: maxRedeemed })

  function sign(value: object): string {
    const text = Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${text}.${macOf(text).toString('base64url')}`
  }

  function macOf(text: string): Buffer {
    return createHmac('sha256', key).update(text).digest()
  }

  function open(signed: string): unknown {
    const [text = '', mac = ''] = signed.split('.')
    const given = Buffer.from(mac, 'base64url')
    const expected = macOf(text)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  }

  const bindingOf = (nonce: string) => createHmac('sha256', key).update(`nonce ${nonce}`).digest('base64url')

  return {
    issuePass: (holder) => sign({ ...holder, use: 'pass', expiresAt: clock() + passMilliseconds }),
    readPass(text, label) {
      const pass = Pass.safeParse(open(text))
      if (!pass.success || pass.data.label !== label || pass.data.expiresAt <= clock()) return null
      return holderOf(pass.data)
    },
    issueTicket: (holder, binding) =>
      sign({
        ...holder,
        use: 'ticket',
        expiresAt: clock() + ticketMilliseconds,
        id: randomBytes(16).toString('base64url'),
        binding,
      }),
    redeemTicket(text, { label, nonce }) {
      const ticket = Ticket.safeParse(open(text))
      if (!ticket.success) return null
      const { id, expiresAt, binding } = ticket.data
      if (ticket.data.label !== label || expiresAt <= clock() || binding !== bindingOf(nonce)) return null
      if (redeemed.has(id)) return null
      redeemed.set(id, true)
      return holderOf(ticket.data)
    },
    newNonce: () => randomBytes(18).toString('base64url'),
    bindingOf,
  }
}

function holderOf({ userId, sessionId, label }: ContentHolder): ContentHolder {
  return { userId, sessionId, label }
}

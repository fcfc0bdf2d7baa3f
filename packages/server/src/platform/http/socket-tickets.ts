import { randomBytes } from 'node:crypto'
import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { Principal } from '../identity/principal.ts'

/** From the answer that makes it to the upgrade that uses it: two round trips, and slow ones fit. */
export const ticketMilliseconds = 30_000

/** Tickets of one user at a time: the oldest gives way to the next. */
const maxTicketsPerUser = 50

/** Tickets at a time of all users together; each takes a few hundred bytes. */
const maxTickets = 20_000

/** What opens one socket in place of the credential it was made with: an address can carry it, once. */
export interface SocketTickets {
  issue(principal: Principal): { ticket: string; expiresAt: Date }
  /** `null`: there is no such ticket, or not any more. */
  redeem(ticket: string): Principal | null
}

interface Issued {
  principal: Principal
  expiresAt: number
}

export function createSocketTickets({ clock }: { clock: Clock }): SocketTickets {
  // In the order of issue, which is the order of expiry.
  const tickets = new Map<string, Issued>()

  function dropExpired(now: number): void {
    for (const [ticket, { expiresAt }] of tickets) {
      if (expiresAt > now) return
      tickets.delete(ticket)
    }
  }

  return {
    issue(principal) {
      const now = clock()
      dropExpired(now)
      const own = [...tickets].filter(([, issued]) => issued.principal.userId === principal.userId)
      if (own.length >= maxTicketsPerUser && own[0]) tickets.delete(own[0][0])
      if (tickets.size >= maxTickets)
        throw new AppError('SERVICE_UNAVAILABLE', 'Too many tickets wait for their sockets; try again')
      const ticket = randomBytes(32).toString('base64url')
      const expiresAt = now + ticketMilliseconds
      tickets.set(ticket, { principal, expiresAt })
      return { ticket, expiresAt: new Date(expiresAt) }
    },
    redeem(ticket) {
      const issued = tickets.get(ticket)
      tickets.delete(ticket)
      return issued && issued.expiresAt > clock() ? issued.principal : null
    },
  }
}

import { expect, it } from 'vitest'
import type { Principal } from '../identity/principal.ts'
import { createSocketTickets, ticketMilliseconds } from './socket-tickets.ts'

const person = (userId: string): Principal => ({
  kind: 'cookie',
  userId,
  sessionId: `of ${userId}`,
  admin: false,
})

function createTickets() {
  let now = 0
  return {
    tickets: createSocketTickets({ clock: () => now }),
    pass: (milliseconds: number) => {
      now += milliseconds
    },
  }
}

it('[SOCK3] a ticket stands for who made it, once', () => {
  const { tickets } = createTickets()
  const { ticket } = tickets.issue(person('ada'))
  expect(tickets.redeem(ticket)).toEqual(person('ada'))
  expect(tickets.redeem(ticket)).toBeNull()
  expect(tickets.redeem('made up')).toBeNull()
})

it('[SOCK3] a ticket is good for 30 seconds', () => {
  const { tickets, pass } = createTickets()
  const [early, late] = [tickets.issue(person('ada')), tickets.issue(person('ada'))]
  expect(early.expiresAt.getTime()).toBe(ticketMilliseconds)
  pass(ticketMilliseconds - 1)
  expect(tickets.redeem(early.ticket)).not.toBeNull()
  pass(1)
  expect(tickets.redeem(late.ticket)).toBeNull()
})

it('[SOCK3] the oldest of too many tickets gives way, and nobody takes those of others', () => {
  const { tickets } = createTickets()
  const other = tickets.issue(person('bob'))
  const own = Array.from({ length: 60 }, () => tickets.issue(person('ada')).ticket)
  expect(own.map((ticket) => tickets.redeem(ticket) !== null)).toEqual(own.map((_, index) => index >= 10))
  expect(tickets.redeem(other.ticket)).toEqual(person('bob'))
})

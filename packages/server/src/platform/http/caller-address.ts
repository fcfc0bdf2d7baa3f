import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'

/** For requests that Fastify does not see: the address that they are counted by, as its `request.ip` gives it. */
export function createCallerAddress(trustProxy: string[] | false): (request: IncomingMessage) => string {
  const trusts = trustProxy ? proxyAddress.compile(trustProxy) : () => false
  return (request) => limitAddress(proxyAddress(request, trusts) ?? '')
}

/** The address that a limit counts by: IPv6 by its /64, since one subscriber has at least that; mapped IPv4 as IPv4. */
export function limitAddress(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped) return mapped[1] as string
  if (!isIPv6(ip)) return ip
  return `${expandIPv6(ip).slice(0, 4).join(':')}::/64`
}

function expandIPv6(ip: string): string[] {
  const [head = '', tail] = (ip.split('%')[0] as string).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(missing).fill('0'), ...right].map((group) =>
    Number.parseInt(group, 16).toString(16),
  )
}

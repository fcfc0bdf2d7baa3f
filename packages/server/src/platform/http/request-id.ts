import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { requestIdPattern } from '@atelier/contract'
import { newId } from '../../base/ids.ts'

/** Makes request ids; an inbound one is taken only from a trusted proxy and only in our form. */
export function createRequestIds(trustProxy: readonly string[] | false): (raw: IncomingMessage) => string {
  const trusted = new BlockList()
  for (const entry of trustProxy || []) addNetwork(trusted, entry)
  return (raw) => {
    const inbound = raw.headers['x-request-id']
    if (
      trustProxy &&
      typeof inbound === 'string' &&
      requestIdPattern.test(inbound) &&
      isTrusted(trusted, raw)
    ) {
      return inbound
    }
    return newId('request')
  }
}

function addNetwork(list: BlockList, entry: string): void {
  const [address = '', prefix] = entry.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}

function isTrusted(list: BlockList, raw: IncomingMessage): boolean {
  const address = raw.socket.remoteAddress
  return address !== undefined && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

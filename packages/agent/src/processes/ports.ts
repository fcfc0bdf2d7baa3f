import { readFileSync } from 'node:fs'
import type { AgentResult } from '@atelier/contract/agent-protocol'

/** State of a listening socket in /proc/net/tcp, include/net/tcp_states.h. */
const listening = '0A'
const listed = 1000

/** TCP ports somebody listens on in this network namespace; empty where there is no /proc. */
export function listPorts(): AgentResult<'ports.list'> {
  const found = new Map<number, string>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readLines(file)) {
      const [, local, , state] = line.trim().split(/\s+/)
      if (state !== listening || local === undefined) continue
      const [address = '', port = ''] = local.split(':')
      const number = Number.parseInt(port, 16)
      if (number > 0) found.set(number, readAddress(address))
    }
  }
  const ports = [...found].map(([port, address]) => ({ port, address })).sort((a, b) => a.port - b.port)
  return { ports: ports.slice(0, listed) }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'latin1').split('\n').slice(1)
  } catch {
    return []
  }
}

/** Hexadecimal words in the machine's byte order: only what callers tell apart is spelled out. */
function readAddress(hex: string): string {
  if (/^0+$/.test(hex)) return hex.length === 8 ? '0.0.0.0' : '::'
  if (hex.length === 8) return Buffer.from(hex, 'hex').reverse().join('.')
  return hex === '00000000000000000000000001000000' ? '::1' : hex.toLowerCase()
}

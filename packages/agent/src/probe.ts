import { Socket } from 'node:net'
import { ProbeRequest } from '@atelier/contract/agent-probe'
import { probeIsolation } from './probes/isolation.ts'
import { probeLimits } from './probes/limits.ts'

/**
 * The process edge of the probe: `probe.mjs REQUEST [--stdio]`. It attacks the sandbox it runs in and writes what
 * happened, as one JSON document, to descriptor 3 or to standard output.
 */
async function main(): Promise<void> {
  const request = ProbeRequest.parse(JSON.parse(process.argv[2] ?? ''))
  const descriptor = process.argv[3] === '--stdio' ? undefined : 3
  const results = [...(await probeIsolation(request, descriptor)), ...(await probeLimits(request))]
  const output = new Socket({ fd: descriptor ?? 1, readable: false })
  output.end(JSON.stringify(results))
}

await main()

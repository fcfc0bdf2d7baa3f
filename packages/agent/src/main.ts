import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runAgent } from './agent.ts'
import { ScanRequest, scan } from './files/grep-scan.ts'
import { strayDescriptors } from './stray-descriptors.ts'

/**
 * The process edge.
 *
 *     agent.mjs --root DIR --state DIR --epoch N (--fd N | --stdio) [--egress SOCKET] [--sandboxed]
 *     agent.mjs scan JSON
 */
async function main(): Promise<number> {
  const program = fileURLToPath(import.meta.url)
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      root: { type: 'string' },
      state: { type: 'string' },
      epoch: { type: 'string', default: '0' },
      fd: { type: 'string' },
      stdio: { type: 'boolean', default: false },
      egress: { type: 'string' },
      sandboxed: { type: 'boolean', default: false },
    },
  })
  if (positionals[0] === 'scan') {
    // Synchronous, so that nothing is lost when the process ends.
    scan(ScanRequest.parse(JSON.parse(positionals[1] ?? '')), (line) => writeSync(1, line))
    return 0
  }
  const { root, state } = values
  if (root === undefined || state === undefined) throw new Error('--root and --state are needed')
  const descriptor = values.stdio ? undefined : Number(values.fd ?? 3)
  const stray = values.sandboxed ? strayDescriptors(descriptor) : []
  if (stray.length > 0)
    throw new Error(`inherited descriptors that nobody meant to pass on: ${stray.join(' ')}`)
  // A file over the size limit is then a failed write, not the end of the agent.
  process.on('SIGXFSZ', () => undefined)
  // Not process.stdout: that one blocks the whole program while its pipe is full.
  const input = new Socket(descriptor === undefined ? { fd: 0, writable: false } : { fd: descriptor })
  const output = descriptor === undefined ? new Socket({ fd: 1, readable: false }) : input
  const { breach } = await runAgent({
    input,
    output,
    rootPath: root,
    statePath: state,
    epoch: BigInt(values.epoch),
    egressPath: values.egress,
    program,
    environment: process.env,
  })
  if (breach !== null) console.error(`agent: ${breach}`)
  return breach === null ? 0 : 1
}

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof Error ? `agent: ${error.message}` : 'agent: unknown failure')
  process.exit(2)
}

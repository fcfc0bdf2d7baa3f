import { join } from 'node:path'
import { chatEnhanced, createChatCompletion } from '@atelier/contract'
import { startAtelier } from './gateway/atelier-server.ts'
import { type ChildServer, startChild } from './gateway/child-server.ts'
import { applyLoad, type Load, type LoadResult } from './gateway/load.ts'
import { startPortkey } from './gateway/portkey-server.ts'
import { targetsOf } from './gateway/targets.ts'
import { interleave, median, round, writeResults } from './harness.ts'

/**
 * Gateways before the same mock provider, rounds interleaved: a bare Node proxy, ours, and Portkey's. Ours authenticates
 * an API key, counts limits, validates, checks the end of each stream and writes the ledger; `atelier, run log` also
 * stores each event of a stream and survives its reader. Client, mock and gateway share the machine's cores;
 * `cpuPerRequest` is the gateway's processor time alone. Takes some four minutes.
 */
const model = 'gpt-6-luna'
const rounds = Number(process.env.ROUNDS ?? 3)

const scenarios = [
  { kind: 'json-200', connections: 1, requests: 800 },
  { kind: 'json-200', connections: 10, requests: 3_000 },
  { kind: 'json-200', connections: 100, requests: 3_000 },
  { kind: 'json-10000', connections: 1, requests: 800 },
  { kind: 'json-10000', connections: 10, requests: 2_000 },
  { kind: 'json-10000', connections: 100, requests: 2_000 },
  { kind: 'stream-64', connections: 1, requests: 200 },
  { kind: 'stream-64', connections: 10, requests: 600 },
  { kind: 'stream-64', connections: 100, requests: 600 },
  { kind: 'stream-64-20', connections: 1, requests: 1 },
  { kind: 'stream-64-20', connections: 10, requests: 10 },
  { kind: 'stream-64-20', connections: 200, requests: 200 },
]

/** People who ask: more than the answers in the making that each may have would need for the paced streams. */
const people = 12

const here = (file: string) => join(import.meta.dirname, 'gateway', file)

await using mock = await startChild(here('mock-upstream.ts'))
await using proxy = await startChild(here('bare-proxy.ts'), { arguments: [mock.url] })
await using atelier = await startAtelier(mock.url, { people })
await using portkey = await startPortkey()

const gateways = { 'bare proxy': proxy, atelier, portkey }
const idle = await memoryOf((server) => server.memory())
const results: Record<string, Record<string, Measured>> = {}
for (const { kind, connections, requests } of scenarios) {
  const contestants = contestantsOf(kind, { connections, requests })
  for (const [, { load }] of contestants) await applyLoad({ ...load, requests: Math.ceil(requests / 4) })
  const measure = contestants.map(([name, one]) => [name, () => measured(one)] as const)
  const taken = await interleave(rounds, Object.fromEntries(measure))
  results[`${kind}, ${connections} connections`] = summarise(taken)
}
const peak = await memoryOf((server) => server.peakMemory())
const targets = targetsOf(results, peak.atelier ?? Number.NaN)
writeResults('gateway', { rounds, targets, ...results, memoryMiB: { idle, peak } })

interface Contestant {
  load: Load
  server: ChildServer
}

function contestantsOf(
  kind: string,
  size: { connections: number; requests: number },
): [string, Contestant][] {
  const streams = kind.startsWith('stream')
  const content = `[${kind}] What does this function do?`
  const common = { ...size, complete: streams ? 'word 63' : 'lorem ipsum' }
  const openAi = {
    ...common,
    path: createChatCompletion.path,
    body: JSON.stringify({ model, stream: streams, messages: [{ role: 'user', content }] }),
  }
  const portkeyHeaders = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${mock.url}/v1`,
  }
  const { callers } = atelier
  const logged = {
    ...common,
    callers,
    path: chatEnhanced.path,
    body: JSON.stringify({ model, message: content }),
  }
  return [
    ['mock', { server: mock, load: { ...openAi, url: mock.url, callers: [{}] } }],
    ['bare proxy', { server: proxy, load: { ...openAi, url: proxy.url, callers: [{}] } }],
    ['atelier', { server: atelier, load: { ...openAi, url: atelier.url, callers } }],
    ...(streams
      ? [
          ['atelier, run log', { server: atelier, load: { ...logged, url: atelier.url } }] as [
            string,
            Contestant,
          ],
        ]
      : []),
    ['portkey', { server: portkey, load: { ...openAi, url: portkey.url, callers: [portkeyHeaders] } }],
  ]
}

async function memoryOf(read: (server: ChildServer) => Promise<number>): Promise<Record<string, number>> {
  const sizes = Object.entries(gateways).map(async ([name, server]) => {
    return [name, round((await read(server)) / 2 ** 20, 0)] as const
  })
  return Object.fromEntries(await Promise.all(sizes))
}

interface Measured extends LoadResult {
  /** milliseconds of the gateway's processor time, all its threads together */
  cpuPerRequest: number
}

async function measured({ load, server }: Contestant): Promise<Measured> {
  const before = await server.cpuSeconds()
  const result = await applyLoad(load)
  return { ...result, cpuPerRequest: ((await server.cpuSeconds()) - before) * (1000 / load.requests) }
}

/** The median round of each figure; failures are summed. */
function summarise(byContestant: Record<string, Measured[]>): Record<string, Measured> {
  const middle = (all: Measured[], key: keyof Measured) => round(median(all.map((one) => one[key])))
  return Object.fromEntries(
    Object.entries(byContestant).map(([who, all]) => [
      who,
      {
        requestsPerSecond: middle(all, 'requestsPerSecond'),
        p50: middle(all, 'p50'),
        p99: middle(all, 'p99'),
        firstByteP50: middle(all, 'firstByteP50'),
        firstByteP99: middle(all, 'firstByteP99'),
        cpuPerRequest: middle(all, 'cpuPerRequest'),
        failed: all.reduce((sum, one) => sum + one.failed, 0),
      },
    ]),
  )
}

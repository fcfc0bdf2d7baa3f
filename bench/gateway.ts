import { join } from 'node:path'
import { chatEnhanced, createChatCompletion } from '@atelier/contract'
import { startAtelier } from './gateway/atelier-server.ts'
import { type ChildServer, startChild } from './gateway/child-server.ts'
import { applyLoad, type Load, type LoadResult } from './gateway/load.ts'
import { interleave, median, round, writeResults } from './harness.ts'

/**
 * Gateways before the same mock provider, rounds interleaved: a bare Node proxy, ours, and Portkey's where it is installed
 * (`PORTKEY_SERVER` names its `build/start-server.js`). Ours authenticates an API key, counts limits, validates, checks the
 * end of each stream and writes the ledger; `atelier, run log` also stores each event of a stream and survives its reader.
 * Client, mock and gateway share the machine's cores; `cpuPerRequest` is the gateway's processor time alone.
 */
const model = 'gpt-6-luna'
const rounds = Number(process.env.ROUNDS ?? 5)
const portkeyScript = process.env.PORTKEY_SERVER
const portkeyPort = 38_787

const scenarios = [
  { kind: 'json-200', connections: 1, requests: 1_000 },
  { kind: 'json-200', connections: 10, requests: 4_000 },
  { kind: 'json-200', connections: 100, requests: 4_000 },
  { kind: 'json-10000', connections: 10, requests: 3_000 },
  { kind: 'stream-64', connections: 10, requests: 1_000 },
  { kind: 'stream-64-20', connections: 200, requests: 400 },
]

const here = (file: string) => join(import.meta.dirname, 'gateway', file)

await using mock = await startChild(here('mock-upstream.ts'))
await using proxy = await startChild(here('bare-proxy.ts'), { arguments: [mock.url] })
await using atelier = await startAtelier(mock.url)
await using portkey = await startPortkey()

const results: Record<string, unknown> = {}
for (const { kind, connections, requests } of scenarios) {
  const contestants = contestantsOf(kind, { connections, requests })
  for (const [, { load }] of contestants) await applyLoad({ ...load, requests: Math.ceil(requests / 4) })
  const measure = contestants.map(([name, one]) => [name, () => measured(one)] as const)
  const taken = await interleave(rounds, Object.fromEntries(measure))
  results[`${kind}, ${connections} connections`] = summarise(taken)
}
const servers = { 'bare proxy': proxy, atelier, ...(portkey && { portkey }) }
const memory = await Promise.all(
  Object.entries(servers).map(async ([name, server]) => [name, round((await server.memory()) / 2 ** 20, 0)]),
)
writeResults('gateway', { rounds, ...results, memoryMiB: Object.fromEntries(memory) })

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
  const all: [string, Contestant][] = [
    ['mock', { server: mock, load: { ...openAi, url: mock.url, headers: {} } }],
    ['bare proxy', { server: proxy, load: { ...openAi, url: proxy.url, headers: {} } }],
    ['atelier', { server: atelier, load: { ...openAi, url: atelier.url, headers: atelier.headers } }],
  ]
  if (streams) {
    const body = JSON.stringify({ model, message: content })
    const load = { ...common, url: atelier.url, path: chatEnhanced.path, headers: atelier.headers, body }
    all.push(['atelier, run log', { server: atelier, load }])
  }
  if (portkey !== undefined) {
    const headers = {
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${mock.url}/v1`,
    }
    all.push(['portkey', { server: portkey, load: { ...openAi, url: portkey.url, headers } }])
  }
  return all
}

async function startPortkey(): Promise<ChildServer | undefined> {
  if (portkeyScript === undefined) return undefined
  return startChild(portkeyScript, {
    arguments: ['--headless', `--port=${portkeyPort}`],
    environment: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    address: `http://127.0.0.1:${portkeyPort}`,
  })
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

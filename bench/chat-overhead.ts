import { join } from 'node:path'
import { chat, chatEnhanced } from '@atelier/contract'
import { startAtelier } from './gateway/atelier-server.ts'
import { startChild } from './gateway/child-server.ts'
import { applyLoad, type Load, type LoadResult } from './gateway/load.ts'
import { interleave, median, round, writeResults } from './harness.ts'

/**
 * What our chat costs over a bare Node proxy: the same mock provider behind both, rounds interleaved. Ours authenticates
 * an API key, counts three limits, validates, chooses a model, builds a prompt, retries, counts usage and cost and checks
 * the end of the stream; the proxy does nothing of that. Client, mock and server share the machine's cores.
 */
const model = 'gpt-6-luna'
const rounds = Number(process.env.ROUNDS ?? 5)

const scenarios = [
  { name: 'json 200 B, 1 connection', kind: 'json-200', connections: 1, requests: 1_000 },
  { name: 'json 200 B, 10 connections', kind: 'json-200', connections: 10, requests: 4_000 },
  { name: 'json 10 KB, 10 connections', kind: 'json-10000', connections: 10, requests: 3_000 },
  { name: 'stream of 64 chunks, 10 connections', kind: 'stream-64', connections: 10, requests: 1_500 },
]

const here = (file: string) => join(import.meta.dirname, 'gateway', file)

await using mock = await startChild(here('mock-upstream.ts'))
await using proxy = await startChild(here('bare-proxy.ts'), { arguments: [mock.url] })
await using atelier = await startAtelier(mock.url)

const results: Record<string, unknown> = {}
for (const { name, kind, connections, requests } of scenarios) {
  const content = `[${kind}] What does this function do?`
  const streams = kind.startsWith('stream')
  const openAiBody = JSON.stringify({ model, stream: streams, messages: [{ role: 'user', content }] })
  const complete = streams ? 'word 63' : 'lorem ipsum'
  const common = { connections, requests, complete }
  const contestants: Record<string, Load> = {
    mock: { ...common, url: mock.url, path: '/v1/chat/completions', callers: [{}], body: openAiBody },
    'bare proxy': {
      ...common,
      url: proxy.url,
      path: '/v1/chat/completions',
      callers: [{}],
      body: openAiBody,
    },
    atelier: {
      ...common,
      url: atelier.url,
      path: streams ? chatEnhanced.path : chat.path,
      callers: atelier.callers,
      body: JSON.stringify(
        streams ? { model, message: content } : { model, messages: [{ role: 'user', content }] },
      ),
    },
  }
  const measure = Object.entries(contestants).map(([who, load]) => [who, () => measured(load)] as const)
  for (const load of Object.values(contestants))
    await applyLoad({ ...load, requests: Math.ceil(requests / 4) })
  results[name] = summarise(await interleave(rounds, Object.fromEntries(measure)))
}
writeResults('chat-overhead', {
  rounds,
  ...results,
  memoryMiB: {
    'bare proxy': round((await proxy.memory()) / 2 ** 20, 0),
    atelier: round((await atelier.memory()) / 2 ** 20, 0),
  },
})

interface Measured extends LoadResult {
  /** milliseconds of processor time for one request, all threads of the server together */
  cpuPerRequest: number
}

async function measured(load: Load): Promise<Measured> {
  const server = [mock, proxy, atelier].find(({ url }) => url === load.url) ?? atelier
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

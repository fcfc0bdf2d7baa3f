import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listWorkspacePorts, type WorkspacePort } from '@atelier/contract'
import { signUpPerson } from '@atelier/testkit'
import { enter, startContentSite } from '../test/integration/content-site.ts'
import { put } from '../test/integration/runtime-support/agent-calls.ts'
import { interleave, median, round, summarise, writeResults } from './harness.ts'

/**
 * What it costs to see a program in a workspace through its preview: pass, rights, tunnel through the agent and our
 * headers, beside the same program asked directly on this machine. Client and server share this process and the cores.
 */
const rounds = Number(process.env.ROUNDS ?? 5)
const requests = 300
const largeBytes = 16 * 1024 * 1024
const port = 5173

/** Answers a few bytes, or many. */
const program = `
const { createServer } = require('node:http')
const large = Buffer.alloc(${largeBytes}, 'x')
createServer((request, response) => response.end(request.url === '/large' ? large : 'hello'))
  .listen(${port}, '127.0.0.1', () => console.log('listening'))`

await using site = await startContentSite({ codeServerDirectory: '/nowhere' })
const owner = await signUpPerson(site.url)
const workspaceId = await site.makeWorkspace(owner)
const agent = await site.start(workspaceId)
await put(agent, 'server.cjs', program)
const running = agent.open('command.run', { command: ['node', 'server.cjs'], timeoutMs: 600_000 })
running.result.catch(() => undefined)
for await (const message of running.messages) if (message.kind === 'data') break
const listed = await fetch(site.url + listWorkspacePorts.path.replace(':workspaceId', workspaceId), {
  headers: owner.headers,
})
const { data } = (await listed.json()) as { data: { items: WorkspacePort[] } }
const address = data.items[0]?.url
if (!address) throw new Error('the port is not listed')
const cookie = await enter(site, address, owner)
const { host } = new URL(address)

const large = Buffer.alloc(largeBytes, 'x')
const direct = createServer((asked, response) => response.end(asked.url === '/large' ? large : 'hello'))
await new Promise<void>((resolve) => direct.listen(0, '127.0.0.1', resolve))
const connections = new Agent({ keepAlive: true })

interface Target {
  port: number
  headers: Record<string, string>
}
const targets: Record<string, Target> = {
  preview: { port: site.port, headers: { host, cookie } },
  direct: { port: (direct.address() as AddressInfo).port, headers: {} },
}

/** Milliseconds until the whole answer is here; throws where it is not the program's. */
async function get(target: Target, path: string, expected: number): Promise<number> {
  const begun = performance.now()
  const bytes = await new Promise<number>((resolve, reject) => {
    request({ host: '127.0.0.1', ...target, path, agent: connections }, (answer) => {
      let size = 0
      answer.on('data', (part: Buffer) => {
        size += part.length
      })
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve(size) : reject(new Error(`${answer.statusCode}`)),
      )
    })
      .on('error', reject)
      .end()
  })
  if (bytes !== expected) throw new Error(`${bytes} bytes instead of ${expected}`)
  return performance.now() - begun
}

const smallOf = async (target: Target) => {
  const times: number[] = []
  for (let at = 0; at < requests; at += 1) times.push(await get(target, '/', 5))
  return times
}
const largeOf = async (target: Target) => largeBytes / 1e3 / (await get(target, '/large', largeBytes))
const each = <Result>(act: (target: Target) => Promise<Result>) =>
  Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, () => act(target)]))

await interleave(1, each(smallOf))
const small = await interleave(rounds, each(smallOf))
const throughput = await interleave(rounds, each(largeOf))
connections.destroy()
direct.close()
writeResults('previews', {
  requestMs: Object.fromEntries(Object.entries(small).map(([name, all]) => [name, summarise(all.flat())])),
  megabytesPerSecond: Object.fromEntries(
    Object.entries(throughput).map(([name, all]) => [name, round(median(all), 0)]),
  ),
})

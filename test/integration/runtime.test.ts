import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectAgent } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { createNoneRuntime } from '../../packages/server/src/platform/runtime/none-runtime.ts'
import {
  defaultWorkspaceLimits,
  type SelfTestReport,
} from '../../packages/server/src/platform/runtime/session-runtime.ts'
import { put, readText, shell } from './runtime-support/agent-calls.ts'
import { builtAgent } from './runtime-support/agent-program.ts'
import { processesOf } from './runtime-support/host-processes.ts'
import { isolatingRuntimes, type RuntimeSite } from './runtime-support/runtimes.ts'

const spec = (workspaceId: string) => ({ workspaceId, limits: defaultWorkspaceLimits, egress: null })
const isRoot = process.getuid?.() === 0

describe.each(isolatingRuntimes)('the runtime $kind', ({ kind, missing, open }) => {
  let site: RuntimeSite
  let web: Server
  let port: number
  beforeAll(async () => {
    if (missing !== undefined) return
    web = createServer((request, response) => response.end(`seen ${request.headers.host}`))
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const address = web.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
    // The one exception of this test: the name `web.test` leads to this machine.
    site = await open({ egress: { resolve: async () => ['127.0.0.1'], mayConnect: () => true } })
  })
  afterAll(async () => {
    if (missing !== undefined) return
    await site[Symbol.asyncDispose]()
    web.close()
  })
  const attempt = (name: string, act: () => Promise<void>) => it.skipIf(missing !== undefined)(name, act)

  attempt(
    '[SBX1] has attacked a sandbox of its own before the first workspace, and says what is in force',
    async () => {
      const report = await site.runtime.selfTest()
      expect(report).toMatchObject({
        passed: true,
        isolation: kind === 'process' ? 'namespace' : 'container',
      })
      expect(report.probes.filter(({ held }) => !held)).toEqual([])
      expect(report.limits).toEqual(expect.arrayContaining(['file size', 'processes']))
      expect(report.missing).toEqual(expect.arrayContaining([expect.stringContaining('disk space')]))
      expect(existsSync(join(site.directory, 'workspaces'))).toBe(true)
    },
  )

  attempt('[SBX13] starts, runs and stops, and every state can be seen', async () => {
    const ref = await site.runtime.create(spec('ws_states'))
    expect(await site.runtime.status(ref)).toEqual({ state: 'stopped', reason: null })
    const starting = site.runtime.start(ref, 1n)
    expect(await site.runtime.status(ref)).toMatchObject({ state: 'starting' })
    await starting
    expect(await site.runtime.status(ref)).toMatchObject({ state: 'running', epoch: 1n })
    const agent = await connectAgent({ stream: await site.runtime.dial(ref) })
    const stopping = site.runtime.stop(ref, 5000)
    expect(await site.runtime.status(ref)).toMatchObject({ state: 'stopping' })
    await stopping
    expect(await site.runtime.status(ref)).toEqual({ state: 'stopped', reason: null })
    expect(await agent.closed).toEqual({ kind: 'ended' })
  })

  attempt('[SBX13] starting twice is one start, and so is starting at once from two places', async () => {
    const ref = await site.runtime.create(spec('ws_twice'))
    await Promise.all([site.runtime.start(ref, 1n), site.runtime.start(ref, 1n)])
    await site.runtime.start(ref, 1n)
    await site.runtime.dial(ref)
    await expect(site.runtime.dial(ref)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(site.runtime.start(ref, 2n)).rejects.toMatchObject({ code: 'CONFLICT' })
    await site.runtime.stop(ref, 1000)
    await site.runtime.start(ref, 2n)
    await site.runtime.stop(ref, 1000)
    await expect(site.runtime.start(ref, 1n)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  attempt('[SBX13] keeps files over a stop, and nothing over a destruction', async () => {
    const { ref, agent } = await site.open('ws_kept')
    await put(agent, 'kept', 'kept')
    await site.runtime.stop(ref, 1000)
    await site.runtime.start(ref, 2n)
    const again = await connectAgent({ stream: await site.runtime.dial(ref) })
    expect(await readText(again, 'kept')).toBe('kept')
    await site.runtime.destroy(ref)
    await expect(site.runtime.status(ref)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { agent: fresh } = await site.open('ws_kept')
    expect((await fresh.call('files.list', { path: '' })).entries).toEqual([])
  })

  attempt('[SBX13] what is not running cannot be dialled, and what is no id is none', async () => {
    const ref = await site.runtime.create(spec('ws_stopped'))
    await expect(site.runtime.dial(ref)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await expect(site.runtime.start({ workspaceId: 'ws_unknown' }, 1n)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    for (const id of ['', '..', '../x', 'a/b', 'a b', '-rf', 'x'.repeat(65)]) {
      await expect(site.runtime.create(spec(id))).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    }
  })

  if (isRoot) {
    attempt(
      '[SBX14] every workspace is a host user of its own, and nobody else can look into its home',
      async () => {
        const homes = ['ws_user1', 'ws_user2'].map((id) => join(site.directory, 'workspaces', id, 'home'))
        await site.open('ws_user1')
        await site.open('ws_user2')
        const stats = homes.map((home) => statSync(home))
        expect(new Set(stats.map(({ uid }) => uid)).size).toBe(2)
        for (const { uid, mode } of stats) {
          expect(uid).toBeGreaterThan(1_000_000)
          expect(mode & 0o777).toBe(0o700)
        }
      },
    )
  }

  attempt('[SBX15] without egress there is no way out, and programs are told of none', async () => {
    const { agent } = await site.open('ws_closed')
    expect(agent.hello.features.egress).toBe(false)
    expect((await shell(agent, 'env | grep -ci proxy; ls /run/atelier 2>/dev/null; exit 0')).stdout).toBe(
      '0\n',
    )
  })

  attempt('[SBX15] with egress allowed hosts can be reached, and nothing else', async () => {
    const { agent } = await site.open('ws_open', { egress: { allow: [`web.test:${port}`] } })
    expect(agent.hello.features.egress).toBe(true)
    const get = async (url: string) => {
      const script = `fetch('${url}').then(async (r) => console.log(r.status, await r.text()), (e) => console.log('failed', e.cause?.code))`
      return (await shell(agent, script, { interpreter: ['node', '-e'] })).stdout.trim()
    }
    expect(await get(`http://web.test:${port}/`)).toBe(`200 seen web.test:${port}`)
    expect(await get('http://other.test/')).toMatch(/^failed/)
    expect(await get('http://169.254.169.254/')).toMatch(/^failed/)
    // What is told to bypass the proxy meets the workspace's own loopback, where nobody listens.
    expect(await get(`http://127.0.0.1:${port}/`)).toMatch(/^failed/)
  })
})

describe.each(isolatingRuntimes.filter(({ kind }) => kind === 'process'))(
  'a broken $kind',
  ({ missing, open }) => {
    let directory: string
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'atelier-broken-'))
      chmodSync(directory, 0o755)
    })
    afterAll(() => rmSync(directory, { recursive: true }))

    /** bubblewrap, but some of its arguments never reach it. */
    function sabotage(...dropped: string[]): string {
      const path = join(directory, `bwrap${dropped.join('')}`)
      const pattern = dropped.map((flag) => `-e ${flag}`).join(' ')
      const script = `#!/bin/bash
exec 6< <(tr '\\0' '\\n' <&4 | grep -vxF ${pattern} | tr '\\n' '\\0') 4<&-
shift 2
exec bwrap --args 6 "$@" 6<&6
`
      writeFileSync(path, script, { mode: 0o755 })
      return path
    }

    it.skipIf(missing !== undefined).each([
      ['shares the network', ['--unshare-net'], 'a port of the host'],
      ['shares the process table', ['--unshare-pid'], 'process table'],
      ['allows user namespaces', ['--disable-userns', '--seccomp', '5'], 'user namespace'],
    ])('[SBX1] that %s is found out, and no workspace starts', async (_name, dropped, probe) => {
      await using site = await open({ bubblewrap: sabotage(...dropped) })
      const report = await site.runtime.selfTest()
      expect(report.passed).toBe(false)
      expect(
        report.probes.filter(({ kind, held }) => kind === 'isolation' && !held).map(({ name }) => name),
      ).toContain(probe)
      const ref = await site.runtime.create(spec('ws_refused'))
      await expect(site.runtime.start(ref, 1n)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringContaining(probe),
      })
      expect(await site.runtime.status(ref)).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining(probe),
      })
    })

    it.skipIf(missing !== undefined)('[SBX1] that is not there is said to be so', async () => {
      await using site = await open({ bubblewrap: '/nonexistent/bwrap' })
      expect(await site.runtime.selfTest()).toMatchObject({
        passed: false,
        probes: [{ name: 'sandbox', held: false }],
      })
      await expect(site.open('ws_refused')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    })
  },
)

describe.each(isolatingRuntimes.filter(({ kind }) => kind === 'process'))(
  'the runtime $kind without root',
  ({ missing }) => {
    /** A user nobody has, who must be able to read this checkout. */
    const user = 4_321_000
    const script = fileURLToPath(new URL('runtime-support/runtime-child.ts', import.meta.url))
    const readable = isRoot && reachable(script)

    function reachable(path: string): boolean {
      if ((statSync(path).mode & 0o005) === 0) return false
      return path === '/' || reachable(dirname(path))
    }

    it.skipIf(missing !== undefined || !readable)(
      '[SBX14] isolates all the same, and says what is missing',
      async () => {
        const directory = mkdtempSync(join(tmpdir(), 'atelier-user-'))
        chownSync(directory, user, user)
        builtAgent()
        const child = spawn(process.execPath, [script, directory], {
          uid: user,
          gid: user,
          cwd: '/',
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const [line] = await once(child.stdout, 'data')
        const { report } = JSON.parse(String(line)) as { report: SelfTestReport }
        expect(report).toMatchObject({ passed: true, isolation: 'namespace' })
        expect(report.missing).toEqual(
          expect.arrayContaining([expect.stringContaining('a host user for each workspace')]),
        )
        child.kill('SIGKILL')
        await expect.poll(() => processesOf(user).processes, { timeout: 10_000 }).toBe(0)
        rmSync(directory, { recursive: true })
      },
    )
  },
)

describe('the runtime without isolation', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'atelier-none-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))
  const facts = { configured: true, singleUser: true, loopbackOnly: true }
  const create = (changed: object) =>
    createNoneRuntime({
      directory,
      program: builtAgent(),
      path: process.env.PATH ?? '',
      facts: { ...facts, ...changed },
    })

  it.each([
    ['the configuration does not ask for it', { configured: false }],
    ['there is more than one user', { singleUser: false }],
    ['the server listens beyond loopback', { loopbackOnly: false }],
  ])('[SBX17] is refused when %s', (reason, changed) => {
    expect(() => create(changed)).toThrow(reason)
  })

  it('[SBX17] works, and says that it isolates nothing', async () => {
    await using runtime = create({})
    expect(await runtime.selfTest()).toMatchObject({
      isolation: 'none',
      missing: expect.arrayContaining([expect.stringContaining('isolation')]),
    })
    const ref = await runtime.create(spec('ws_none'))
    await runtime.start(ref, 1n)
    const agent = await connectAgent({ stream: await runtime.dial(ref) })
    await put(agent, 'a', 'b')
    expect((await shell(agent, 'cat a')).stdout).toBe('b')
    await runtime.destroy(ref)
    expect(existsSync(join(directory, 'workspaces/ws_none'))).toBe(false)
  })

  it("[SBX5] gives programs nothing of the server's environment all the same", async () => {
    process.env.ATELIER_TEST_CANARY = 'canary-none'
    await using runtime = create({})
    const ref = await runtime.create(spec('ws_none'))
    await runtime.start(ref, 1n)
    const agent = await connectAgent({ stream: await runtime.dial(ref) })
    expect((await shell(agent, 'env')).stdout).not.toContain('canary-none')
    delete process.env.ATELIER_TEST_CANARY
  })
})

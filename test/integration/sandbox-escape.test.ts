import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { defaultWorkspaceLimits } from '../../packages/server/src/platform/runtime/session-runtime.ts'
import { collect, put, readText, shell } from './runtime-support/agent-calls.ts'
import {
  descriptorAttack,
  environmentAttack,
  namespaceAttack,
  privilegeAttack,
  processAttack,
  remountAttack,
  systemCalls,
} from './runtime-support/attacks.ts'
import { processesOf } from './runtime-support/host-processes.ts'
import { isolatingRuntimes, type OpenWorkspace, type RuntimeSite } from './runtime-support/runtimes.ts'

/** In the server's environment and nowhere else: must never be seen inside. */
const canary = `canary-${Math.random().toString(36).slice(2)}`

/** A tmpfs rounds its size up to whole pages. */
const pageBytes = 4096

const onX64 = process.arch === 'x64'

describe.each(isolatingRuntimes)('from a workspace of the runtime $kind', ({ kind, missing, open }) => {
  let site: RuntimeSite
  let attacker: OpenWorkspace
  let victim: OpenWorkspace
  let agent: AgentClient
  let bait: string
  let hostPort: Server
  const touched: string[] = []
  const abstract = `atelier-escape-${process.pid}-${kind}`

  beforeAll(async () => {
    if (missing !== undefined) return
    process.env.ATELIER_TEST_CANARY = canary
    bait = mkdtempSync(join(tmpdir(), 'atelier-escape-'))
    chmodSync(bait, 0o777)
    writeFileSync(join(bait, 'secret'), canary, { mode: 0o666 })
    hostPort = await listening({ host: '0.0.0.0', port: 0 }, 'port')
    await listening({ path: `\0${abstract}` }, 'abstract socket')
    site = await open()
    attacker = await site.open('ws_attacker')
    victim = await site.open('ws_victim')
    agent = attacker.agent
    await put(victim.agent, 'secret', canary)
  })
  afterAll(async () => {
    if (missing !== undefined) return
    await site[Symbol.asyncDispose]()
    delete process.env.ATELIER_TEST_CANARY
    for (const server of servers.splice(0)) server.close()
    rmSync(bait, { recursive: true })
  })

  const servers: Server[] = []
  async function listening(where: object, name: string): Promise<Server> {
    const server = createServer((socket) => {
      touched.push(name)
      socket.end(canary)
    })
    servers.push(server)
    server.listen(where)
    await once(server, 'listening')
    return server
  }

  const attempt = (name: string, act: () => Promise<void>, timeout?: number) =>
    it.skipIf(missing !== undefined)(name, act, timeout)
  /** Runs a script and returns what it printed: empty is nothing achieved. */
  const achieved = async (script: string, interpreter?: string[]) =>
    (await shell(agent, script, interpreter === undefined ? {} : { interpreter })).stdout
  const perl = (script: string) => achieved(script, ['perl', '-e'])
  /** Makes system calls and returns those that were not refused. */
  const systemCallsAchieved = async (calls: Parameters<typeof systemCalls>[0]) => {
    const { stdout, stderr } = await shell(agent, systemCalls(calls), { interpreter: ['perl', '-e'] })
    expect(stderr.match(/^refused: .*$/gm)?.length ?? 0).toBe(calls.length - stdout.split('\n').length + 1)
    return stdout
  }
  const port = () => {
    const address = hostPort.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  attempt("[SBX2] nothing can be mounted or made writable, the host's /usr least of all", async () => {
    const { stdout, stderr } = await shell(agent, remountAttack)
    expect(stdout).toBe('')
    // The attack was made: every line of it was refused.
    expect(stderr.split('\n').length).toBeGreaterThan(10)
    expect(existsSync('/usr/escaped')).toBe(false)
  })

  attempt('[SBX3] no program gives more rights than the workspace has', async () => {
    expect(await achieved(privilegeAttack)).toBe('')
  })

  attempt('[SBX3] no namespace can be made in which one would be root', async () => {
    expect(await achieved(namespaceAttack)).toBe('')
  })

  if (onX64) {
    attempt('[SBX3] system calls that reach into the kernel are refused', async () => {
      const calls = [
        { name: 'mount', number: 165, args: ['none', '/tmp', 'tmpfs', 0, 0] },
        { name: 'unshare user', number: 272, args: [0x10000000] },
        { name: 'setns', number: 308, args: [0, 0] },
        { name: 'bpf', number: 321, args: [0, 0, 0] },
        { name: 'perf_event_open', number: 298, args: [0, 0, 0, 0, 0] },
        { name: 'userfaultfd', number: 323, args: [0] },
        { name: 'keyctl', number: 250, args: [0, -3, 1] },
        { name: 'add_key', number: 248, args: ['user', 'atelier', 'abc', 3, -3] },
        { name: 'open_by_handle_at', number: 304, args: [-100, 0, 0] },
        { name: 'init_module', number: 175, args: [0, 0, ''] },
        { name: 'kexec_load', number: 246, args: [0, 0, 0, 0] },
        { name: 'reboot', number: 169, args: [0xfee1dead, 672274793, 0] },
        { name: 'sethostname', number: 170, args: ['evil', 4] },
        { name: 'settimeofday', number: 164, args: [0, 0] },
        { name: 'syslog', number: 103, args: [10, 0, 0] },
        { name: 'swapon', number: 167, args: ['/tmp', 0] },
        { name: 'chroot', number: 161, args: ['/tmp'] },
        { name: 'clone new user namespace', number: 56, args: [0x10000000 | 17, 0, 0, 0, 0] },
      ]
      expect(await systemCallsAchieved(calls)).toBe('')
    })
  }

  attempt('[SBX4] only processes of the workspace can be seen', async () => {
    const table = await achieved(processAttack)
    const lines = table.trim().split('\n')
    expect(lines.length).toBeLessThan(8)
    expect(table).toContain('agent.mjs')
    expect(table).not.toContain('vitest')
    expect(table).not.toContain(site.directory)
  })

  attempt('[SBX4] no process outside can be traced or signalled, by any number', async () => {
    const outside = [process.pid, process.ppid]
    expect(
      await achieved(
        `for pid in ${outside.join(' ')}; do kill -0 $pid 2>/dev/null && echo signalled $pid; cat /proc/$pid/root/etc/shadow && echo read; done; exit 0`,
      ),
    ).toBe('')
    // PTRACE_SEIZE
    if (onX64)
      expect(
        await systemCallsAchieved(
          outside.map((pid) => ({ name: `traced ${pid}`, number: 101, args: [0x4206, pid, 0, 0] })),
        ),
      ).toBe('')
  })

  attempt('[SBX4] the first process leads nowhere: its root is ours and it has no more rights', async () => {
    expect(
      await achieved(
        'ls /proc/1/root/home; grep -hE "^Cap(Eff|Prm|Bnd)" /proc/1/status | grep -v 0000000000000000; exit 0',
      ),
    ).toBe('user\n')
  })

  attempt("[SBX5] nothing of the server's environment is visible anywhere", async () => {
    const variables = await achieved(environmentAttack)
    expect(variables).toContain('HOME=/home/user')
    expect(variables).not.toContain(canary)
    expect(await achieved('env')).not.toContain(canary)
    const names = new Set([...variables.matchAll(/^(\w+)=/gm)].map(([, name]) => name))
    for (const name of Object.keys(process.env)) {
      if (/TOKEN|SECRET|KEY|PASSWORD|ATELIER|VITEST/i.test(name)) expect(names).not.toContain(name)
    }
  })

  attempt('[SBX6] files of the host and of other workspaces are not there', async () => {
    const victimHome = join(site.directory, 'workspaces/ws_victim/home/workspace/secret')
    expect(readFileSync(victimHome, 'utf8')).toBe(canary)
    const paths = [
      join(bait, 'secret'),
      bait,
      victimHome,
      site.directory,
      '/root',
      '/etc/shadow',
      '/var/lib',
      '/boot',
      '/run/docker.sock',
      '/var/run/docker.sock',
    ]
    expect(
      await achieved(
        `for p in ${paths.join(' ')}; do cat $p 2>/dev/null; ls -A $p 2>/dev/null; done; exit 0`,
      ),
    ).toBe('')
    if (kind === 'process')
      expect(await achieved('ls -A /sys /boot /root /srv /mnt /media 2>/dev/null; ls /home; exit 0')).toBe(
        'user\n',
      )
  })

  attempt('[SBX6] no way of writing the path leads out', async () => {
    const up = '../'.repeat(20)
    const roots = ['/proc/1/root', '/proc/self/root', '/proc/1/cwd', '/dev/fd/3', '/proc/2/fd/3']
    const script = [
      `cat ${up}${bait}/secret`,
      ...roots.map((root) => `cat ${root}${bait}/secret`),
      `grep -r ${canary} / --include=secret -s`,
    ].join('; ')
    expect(await achieved(`${script}; exit 0`)).toBe('')
  })

  attempt('[SBX6] a hard link cannot take a file in from outside the home', async () => {
    expect(
      await achieved(
        'for f in /usr/bin/env /etc/passwd /opt/node/bin/node /proc/1/exe; do ln $f ./stolen 2>/dev/null && echo linked $f; done; exit 0',
      ),
    ).toBe('')
  })

  attempt("[SBX7] there is no network but the workspace's own loopback", async () => {
    const addresses = [
      '127.0.0.1',
      ...Object.values(networkInterfaces())
        .flat()
        .flatMap((each) => (each?.family === 'IPv4' ? [each.address] : [])),
    ]
    const targets = [
      ...addresses.map((address) => [address, port()]),
      ['169.254.169.254', 80],
      ['1.1.1.1', 53],
      ['8.8.8.8', 443],
      ['::1', port()],
      ['fd00:ec2::254', 80],
    ]
    const script = `
      const net = require('node:net')
      for (const [host, port] of ${JSON.stringify(targets)}) {
        const socket = net.connect({ host, port, timeout: 1500 })
        socket.on('connect', () => { console.log('reached', host, port); socket.destroy() })
        socket.on('timeout', () => socket.destroy())
        socket.on('error', () => undefined)
      }`
    expect(await achieved(script, ['/opt/node/bin/node', '-e'])).toBe('')
    expect(touched).toEqual([])
  })

  attempt('[SBX7] no name can be resolved and no datagram sent', async () => {
    const script = `
      require('node:dns').lookup('example.com', (error) => { if (!error) console.log('resolved') })
      const socket = require('node:dgram').createSocket('udp4')
      socket.send('x', 53, '8.8.8.8', (error) => { if (!error) console.log('sent'); socket.close() })`
    expect(await achieved(script, ['/opt/node/bin/node', '-e'])).toBe('')
    // Raw and packet sockets: socket(AF_INET, SOCK_RAW, ICMP), socket(AF_PACKET, SOCK_RAW, 0).
    if (onX64) {
      const raw = [
        { name: 'raw', number: 41, args: [2, 3, 1] },
        { name: 'packet', number: 41, args: [17, 3, 0] },
      ]
      expect(await systemCallsAchieved(raw)).toBe('')
    }
  })

  attempt('[SBX7] abstract sockets of the host are not there', async () => {
    const script = `require('node:net').connect({ path: '\\0${abstract}' }).on('connect', () => console.log('reached')).on('error', () => undefined)`
    expect(await achieved(script, ['/opt/node/bin/node', '-e'])).toBe('')
    expect(touched).toEqual([])
  })

  attempt('[SBX7] neither ports nor sockets of another workspace can be reached', async () => {
    const listen = (target: string) =>
      `require('node:net').createServer((s) => s.end('${canary}')).listen(${target}, () => console.log('up'))`
    const targets = ['4321', `{ path: '\\0atelier-victim' }`, `{ path: '/tmp/victim.sock' }`]
    for (const target of targets) {
      const call = victim.agent.open('command.run', { command: ['/opt/node/bin/node', '-e', listen(target)] })
      call.result.catch(() => undefined)
      let said = ''
      for await (const message of call.messages) {
        if (message.kind === 'data') said += Buffer.from(message.bytes).toString('utf8')
        if (said.length > 0) break
      }
      expect(said).toBe('up\n')
    }
    const reach = (each: AgentClient) =>
      shell(
        each,
        targets
          .map(
            (target) =>
              `require('node:net').connect(${target}).on('data', (d) => console.log(String(d))).on('error', () => undefined)`,
          )
          .join(';'),
        { interpreter: ['/opt/node/bin/node', '-e'] },
      )
    // They are there for the victim's own programs.
    expect((await reach(victim.agent)).stdout.trim().split('\n')).toEqual([canary, canary, canary])
    expect((await reach(agent)).stdout).toBe('')
  })

  attempt('[SBX8] no descriptor of the server is open inside', async () => {
    const list = await achieved(descriptorAttack)
    const targets = [...list.matchAll(/ -> (.*)/g)].map(([, target = '']) => target)
    const known =
      /^(socket:|pipe:|anon_inode:|\/dev\/null$|\/dev\/urandom$|\/proc\/|\/home\/user\b|\/dev\/pts|\/opt\/)/
    expect(targets.filter((target) => !known.test(target))).toEqual([])
    expect(targets.length).toBeGreaterThan(0)
  })

  attempt('[SBX10] there is no terminal of the server to type into', async () => {
    expect(await perl('print "opened\\n" if open(my $t, "+<", "/dev/tty")')).toBe('')
    expect(await perl('print "opened\\n" if open(my $t, "+<", "/dev/console")')).toBe('')
    // TIOCSTI into the workspace's own terminal reaches nobody else; under bubblewrap it is refused altogether.
    const terminal = agent.open('terminal.open', {
      command: ['perl', '-e', 'my $c = "x"; print ioctl(STDIN, 0x5412, $c) ? "typed" : "refused $!"'],
    })
    const text = (await collect(terminal)).toString('utf8')
    expect(text).toMatch(kind === 'process' ? /refused Operation not permitted/ : /typed|refused/)
  })

  attempt('[SBX9] a fork bomb stays in its workspace and ends with it', async () => {
    const limits = { ...defaultWorkspaceLimits, processes: 100 }
    const bomber = await site.open('ws_bomber', { limits })
    const bomb = bomber.agent.open('command.run', {
      command: ['/bin/bash', '-c', 'b() { b | b & }; b; sleep 20'],
      timeoutMs: 20_000,
    })
    bomb.result.catch(() => undefined)
    const user = statSync(join(site.directory, 'workspaces/ws_bomber/home')).uid
    await expect.poll(() => processesOf(user).threads, { timeout: 10_000 }).toBeGreaterThan(60)
    expect(processesOf(user).threads).toBeLessThan(150)
    expect((await shell(victim.agent, 'echo fine')).stdout).toBe('fine\n')
    await site.runtime.stop(bomber.ref, 500)
    expect(processesOf(user)).toEqual({ processes: 0, threads: 0 })
    expect(await site.runtime.status(bomber.ref)).toMatchObject({ state: 'stopped' })
  })

  attempt('[SBX9] a file, the private /tmp and memory have their limits', async () => {
    const limits = {
      ...defaultWorkspaceLimits,
      fileBytes: 5_000_000,
      tmpBytes: 2_000_000,
      memoryBytes: 256 * 1024 * 1024,
    }
    const filler = await site.open('ws_filler', { limits })
    const file = await shell(filler.agent, 'head -c 20000000 /dev/zero > big; stat -c %s big')
    expect(Number(file.stdout)).toBe(5_000_000)
    /** Its limit, rounded to whole pages. */
    const expectNearly = (size: number) => {
      expect(size).toBeGreaterThan(1_900_000)
      expect(size).toBeLessThanOrEqual(2_000_000 + pageBytes)
    }
    const tmp = await shell(filler.agent, 'head -c 4000000 /dev/zero > /tmp/big; stat -c %s /tmp/big')
    expectNearly(Number(tmp.stdout))
    const memory = await shell(
      filler.agent,
      'for i in 1 2 3 4; do head -c 1000000 /dev/zero > /dev/shm/$i; done; cat /dev/shm/* | wc -c',
    )
    expectNearly(Number(memory.stdout))
    const report = await site.runtime.selfTest()
    if (report.limits.includes('memory')) {
      const hog = await shell(filler.agent, `perl -e 'my @x; push @x, "x" x 1000000 while 1'`)
      expect(hog.signal).toBe('SIGKILL')
    }
    // The agent goes on, also when its own write is over the limit.
    await expect(put(filler.agent, 'large', 'x'.repeat(6_000_000))).rejects.toMatchObject({
      code: 'TOO_LARGE',
    })
    expect((await shell(filler.agent, 'echo fine')).stdout).toBe('fine\n')
    await site.runtime.stop(filler.ref, 1000)
  })

  attempt(
    '[SBX12] destroying a workspace removes what is its own and nothing its links lead to',
    async () => {
      const doomed = await site.open('ws_doomed')
      mkdirSync(join(bait, 'kept'))
      await shell(
        doomed.agent,
        `ln -s ${bait}/kept link; mkdir -p closed/in; touch closed/in/f; chmod 000 closed; mkdir -p $(printf 'd/%.0s' $(seq 200))`,
      )
      await site.runtime.destroy(doomed.ref)
      expect(existsSync(join(site.directory, 'workspaces/ws_doomed'))).toBe(false)
      expect(existsSync(join(bait, 'kept'))).toBe(true)
      expect(await readText(victim.agent, 'secret')).toBe(canary)
    },
  )
})

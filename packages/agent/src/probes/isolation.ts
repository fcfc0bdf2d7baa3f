import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type NetConnectOpts } from 'node:net'
import type { ProbeAnswer, ProbeRequest } from '@atelier/contract/agent-probe'
import { strayDescriptors } from '../stray-descriptors.ts'

type Result = ProbeAnswer[number]

/** Everything that must be refused. `descriptor` is the one the answer goes to. */
export async function probeIsolation(
  request: ProbeRequest,
  descriptor: number | undefined,
): Promise<Result[]> {
  return [
    privileges(),
    remount(),
    newNamespace(),
    hostFiles(request.hostPaths),
    environment(request.secret),
    processTable(),
    descriptors(descriptor),
    network(),
    await unreachable('a port of the host', { host: '127.0.0.1', port: request.hostPort }),
    await unreachable('an abstract socket of the host', { path: `\0${request.abstractSocket}` }),
  ]
}

function result(name: string, held: boolean, detail: string): Result {
  return { name, kind: 'isolation', held, detail: detail.slice(0, 500) }
}

/** proc(5) status: no user that is root, no capability, no way to get one, a system call filter where the machine has one. */
function privileges(): Result {
  const status = readFileSync('/proc/self/status', 'latin1')
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? ''
  const capabilities = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].filter(
    (name) => !/^0+$/.test(field(name)),
  )
  const users = field('Uid').split(/\s+/)
  const faults = [
    ...capabilities.map((name) => `${name} ${field(name)}`),
    ...(users.includes('0') ? ['runs as root'] : []),
    ...(field('NoNewPrivs') === '1' ? [] : ['may gain privileges']),
  ]
  return result(
    'privileges',
    faults.length === 0,
    faults.join(', ') || `uid ${users[0]}, seccomp ${field('Seccomp')}`,
  )
}

/** The escape this sandbox is most afraid of: with capabilities left over, the host's /usr can be made writable. */
function remount(): Result {
  const remounted = succeeds('mount', ['-o', 'remount,bind,rw', '/usr'])
  const mounted = succeeds('mount', ['-t', 'tmpfs', 'none', '/tmp'])
  let written = false
  const path = `/usr/.atelier-probe-${process.pid}`
  try {
    writeFileSync(path, '')
    written = true
  } catch {
    // Refused, as it must be.
  }
  const faults = [
    ...(remounted ? ['/usr was remounted'] : []),
    ...(mounted ? ['/tmp was mounted'] : []),
    ...(written ? [`${path} was written`] : []),
  ]
  return result('remount', faults.length === 0, faults.join(', ') || 'refused')
}

function newNamespace(): Result {
  const made = succeeds('unshare', ['--user', '--map-root-user', 'true'])
  return result('user namespace', !made, made ? 'a user namespace was made' : 'refused')
}

function hostFiles(paths: string[]): Result {
  const found = [
    ...paths,
    '/var/run/docker.sock',
    '/run/docker.sock',
    '/etc/shadow',
    '/root',
    '/dev/kmsg',
    '/dev/mem',
  ].filter(visible)
  return result('files of the host', found.length === 0, found.join(', ') || 'not there')
}

/** /etc/shadow and /root may exist in a container's own image; what counts is whether they can be read. */
function visible(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    readFileSync(path)
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EISDIR')) return false
  }
  try {
    return readdirSync(path).length > 0
  } catch {
    return false
  }
}

function environment(secret: string): Result {
  const leaks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => `/proc/${pid}/environ`)
    .filter((path) => readQuietly(path).includes(secret))
  return result('environment', leaks.length === 0, leaks.join(', ') || 'no trace of the server')
}

/** A namespace of our own holds the sandbox's first processes and us, nothing else. */
function processTable(): Result {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return result('process table', pids.length <= 8 && process.pid < 1000, `${pids.length} processes`)
}

function descriptors(expected: number | undefined): Result {
  const stray = strayDescriptors(expected)
  return result('inherited descriptors', stray.length === 0, stray.join(' ') || 'none')
}

function network(): Result {
  const names = readQuietly('/proc/net/dev')
    .split('\n')
    .flatMap((line) => /^\s*([^\s:]+):/.exec(line)?.[1] ?? [])
    // Tunnel devices every namespace is born with, down and without an address.
    .filter((name) => !/^(lo|tunl0|gre0|gretap0|erspan0|sit0|ip6tnl0|ip6gre0|ip_vti0|ip6_vti0)$/.test(name))
  return result('network', names.length === 0, names.join(', ') || 'loopback only')
}

function unreachable(name: string, target: NetConnectOpts): Promise<Result> {
  return new Promise((resolve) => {
    const socket = connect(target)
    const settle = (held: boolean, detail: string) => {
      socket.destroy()
      resolve(result(name, held, detail))
    }
    socket.setTimeout(2000, () => settle(true, 'no answer'))
    socket.once('connect', () => settle(false, 'connected'))
    socket.once('error', (error) => settle(true, error.message.replace('\0', '@')))
  })
}

function succeeds(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 5000 })
    return true
  } catch {
    // Refused, or not even there.
    return false
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

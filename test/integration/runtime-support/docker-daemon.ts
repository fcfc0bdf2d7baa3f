import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { builtAgent } from './agent-program.ts'
import { makeSmallRoot } from './small-root.ts'

export interface DockerDaemon extends AsyncDisposable {
  socketPath: string
  image: string
}

const startMs = 30_000

/** Why no daemon can be started here; undefined if one can. */
export function noDockerDaemon(): string | undefined {
  if (process.platform !== 'linux') return 'not Linux'
  if (process.getuid?.() !== 0) return 'not root'
  const missing = ['/usr/bin/docker', '/usr/sbin/dockerd'].filter((path) => !existsSync(path))
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`
}

/** A daemon of the test's own, without network, and an image made from this machine's own programs. */
export async function startDockerDaemon(): Promise<DockerDaemon> {
  const directory = mkdtempSync(join(tmpdir(), 'atelier-docker-'))
  const socketPath = join(directory, 'docker.sock')
  const log = openSync(join(directory, 'log'), 'w')
  const daemon = spawn(
    '/usr/sbin/dockerd',
    [
      ...[
        '--data-root',
        join(directory, 'root'),
        '--exec-root',
        join(directory, 'exec'),
        '--pidfile',
        join(directory, 'pid'),
      ],
      ...['--host', `unix://${socketPath}`, '--iptables=false', '--ip6tables=false', '--bridge=none'],
    ],
    { stdio: ['ignore', log, log] },
  )
  const exited = once(daemon, 'exit')
  const stop = async () => {
    daemon.kill('SIGTERM')
    await exited
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const docker = new Docker({ socketPath })
    await answering(docker, () => daemon.exitCode === null)
    const root = join(directory, 'small-root')
    const { directory: agent } = builtAgent()
    makeSmallRoot(root, [join(agent, 'pty.node'), join(agent, 'watcher.node')])
    const archive = join(directory, 'root.tar')
    execFileSync('tar', ['-C', root, '-cf', archive, '.'])
    execFileSync('/usr/bin/docker', [
      '--host',
      `unix://${socketPath}`,
      'import',
      archive,
      'atelier-test:latest',
    ])
    return { socketPath, image: 'atelier-test:latest', [Symbol.asyncDispose]: stop }
  } catch (error) {
    const words = readFileSync(join(directory, 'log'), 'utf8').slice(-2000)
    await stop()
    throw new Error(`no Docker daemon: ${words}`, { cause: error })
  }
}

async function answering(docker: Docker, alive: () => boolean): Promise<void> {
  const deadline = Date.now() + startMs
  while (alive() && Date.now() < deadline) {
    try {
      await docker.ping()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error('it does not answer')
}

import { existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { insidePaths, insideUser, type SandboxMount } from './sandbox-arguments.ts'

/** Directories beside /usr that hold programs; on most systems they are links into it. */
const programDirectories = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const

/** Files of the host's /etc that programs need and that hold no secret. Private keys in /etc/ssl/private stay out. */
const hostFiles = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
  '/etc/pki/tls/certs',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
] as const

/** The host's programs and libraries, read-only, as they are found on this machine. */
export function systemMounts(): { mounts: SandboxMount[]; links: { path: string; target: string }[] } {
  const mounts: SandboxMount[] = [readOnly('/usr')]
  const links: { path: string; target: string }[] = []
  for (const path of programDirectories) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink() === true) links.push({ path, target: readlinkSync(path) })
    else if (stats?.isDirectory() === true) mounts.push(readOnly(path))
  }
  for (const path of hostFiles) if (existsSync(path)) mounts.push(readOnly(path))
  return { mounts, links }
}

/** Writes the files of /etc that are the same in every sandbox, and says where they go. */
export function writeIdentityFiles(directory: string, user: number = insideUser): SandboxMount[] {
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  const account = `user:x:${user}:${user}:user:${insidePaths.home}:/bin/bash`
  const files = {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${account}\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
    group: `root:x:0:\nuser:x:${user}:\nnogroup:x:65534:\n`,
    hosts: '127.0.0.1 localhost workspace\n::1 localhost\n',
    hostname: 'workspace\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
  return Object.entries(files).map(([name, content]) => {
    const path = join(directory, name)
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, content, { mode: 0o644 })
    renameSync(draft, path)
    return { source: path, target: `/etc/${name}`, writable: false }
  })
}

/** The program that runs as agent, the Node it runs on, and npm if the host has it somewhere. */
export interface AgentProgram {
  /** directory with `agent.mjs`, `probe.mjs` and the native parts */
  directory: string
  /** path of the Node binary */
  node: string
  /** directory of the npm package, for hosts whose npm is not below /usr */
  npm?: string | undefined
  /** directory where code-server is installed, if it is: read-only inside */
  codeServer?: string | undefined
}

export function programMounts(program: AgentProgram): {
  mounts: SandboxMount[]
  links: { path: string; target: string }[]
} {
  const mounts: SandboxMount[] = [
    { source: program.node, target: insidePaths.node, writable: false },
    { source: program.directory, target: insidePaths.agent, writable: false },
  ]
  // Looked at before every start: it may be installed while the server runs.
  if (program.codeServer !== undefined && existsSync(join(program.codeServer, 'installed.json')))
    mounts.push({ source: program.codeServer, target: insidePaths.codeServer, writable: false })
  if (program.npm === undefined) return { mounts, links: [] }
  mounts.push({ source: program.npm, target: insidePaths.npm, writable: false })
  const links = ['npm', 'npx'].map((name) => ({
    path: join(dirname(insidePaths.node), name),
    target: `../lib/node_modules/npm/bin/${name}-cli.js`,
  }))
  return { mounts, links }
}

function readOnly(path: string): SandboxMount {
  return { source: path, target: path, writable: false }
}

import type { WorkspaceLimits } from './session-runtime.ts'

/** Where things are inside every sandbox, whatever the runtime. */
export const insidePaths = {
  home: '/home/user',
  root: '/home/user/workspace',
  state: '/home/user/.atelier',
  node: '/opt/node/bin/node',
  npm: '/opt/node/lib/node_modules/npm',
  agent: '/opt/atelier',
  codeServer: '/opt/code-server',
  egress: '/run/atelier/egress.sock',
} as const

/** uid and gid a program inside sees as its own under bubblewrap. */
export const insideUser = 1000

/** A host path and where it appears inside. */
export interface SandboxMount {
  source: string
  target: string
  writable: boolean
}

export interface SandboxPlan {
  mounts: SandboxMount[]
  /** links inside: what they are called and where they lead */
  links: { path: string; target: string }[]
  environment: Record<string, string>
  limits: WorkspaceLimits
  /** descriptor of the system call filter, if there is one */
  filterDescriptor: number | undefined
}

/** The environment inside, whole: nothing of the server's own gets in. */
export function sandboxEnvironment(): Record<string, string> {
  return {
    PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: insidePaths.home,
    USER: 'user',
    LOGNAME: 'user',
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    PS1: '\\w\\$ ',
    // Content hashing and fsync run in libuv's pool; its default of four makes parallel writes wait.
    UV_THREADPOOL_SIZE: '8',
    npm_config_update_notifier: 'false',
  }
}

/**
 * bubblewrap's arguments, to be passed through a descriptor: on the command line they would show host paths to
 * everything inside. Own user, process, network, IPC, host name and cgroup namespaces; no capabilities; no further
 * user namespaces; a session of its own; everything read-only but the home and the private /tmp and /dev/shm.
 */
export function bubblewrapArguments(plan: SandboxPlan): string[] {
  const { limits } = plan
  return [
    ...[
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--unshare-cgroup-try',
    ],
    ...['--disable-userns', '--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...['--uid', String(insideUser), '--gid', String(insideUser), '--hostname', 'workspace'],
    '--clearenv',
    ...Object.entries(plan.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...[
      '--dir',
      '/etc',
      '--dir',
      '/var',
      '--dir',
      '/run/atelier',
      '--dir',
      '/opt/node/bin',
      '--dir',
      '/home',
    ],
    ...plan.mounts.flatMap(({ source, target, writable }) => [
      writable ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
    ...plan.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', String(limits.tmpBytes), '--tmpfs', '/tmp'],
    ...['--perms', '1777', '--size', String(limits.tmpBytes), '--tmpfs', '/dev/shm'],
    ...['--symlink', '/tmp', '/var/tmp', '--remount-ro', '/dev', '--remount-ro', '/'],
    ...(plan.filterDescriptor === undefined ? [] : ['--seccomp', String(plan.filterDescriptor)]),
    ...['--chdir', insidePaths.home],
  ]
}

/**
 * Limits of each process inside, as a command to put before another. They are set inside because the kernel then
 * counts processes in the sandbox's own user namespace, apart from others of the same host user.
 */
export function limitCommand({ processes, fileBytes, openFiles }: WorkspaceLimits): string[] {
  return [
    '/usr/bin/prlimit',
    `--nproc=${processes}`,
    `--fsize=${fileBytes}`,
    `--nofile=${openFiles}`,
    '--core=0',
    '--',
  ]
}

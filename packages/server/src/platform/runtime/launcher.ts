import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How a command is started so that it becomes the sandbox: see the script for the order of things. */
export interface LaunchPlan {
  /** files of cgroups to join */
  joinFiles: string[]
  /** host user to become; undefined: stay who we are */
  user: number | undefined
  /** directories to mount under a place everybody can reach, before the user changes */
  relocations: Relocation[]
  /** descriptors the command is meant to inherit beside 0, 1 and 2 */
  keepDescriptors: number[]
  command: string[]
}

export interface Relocation {
  source: string
  /** the path that stands for `source` in the command's own mount namespace */
  target: string
}

/**
 * In this order: join the cgroups, so that nothing is ever outside them; mount what the workspace's user could not
 * reach; close every descriptor the server itself happened to inherit (Node closes its own, not those it was started
 * with); become the workspace's user without any capability; become the command. Everything comes as arguments,
 * nothing is pasted into the text.
 */
const script = `
set -eu
count=$1; shift
while [ "$count" -gt 0 ]; do echo 0 > "$1"; shift; count=$((count - 1)); done
count=$1; shift
if [ "$count" -gt 0 ]; then mount -n -t tmpfs -o mode=0755 none "$1"; shift; fi
while [ "$count" -gt 0 ]; do
  if [ -d "$1" ]; then mkdir "$2"; else : > "$2"; fi
  mount -n --bind "$1" "$2"; shift 2; count=$((count - 1))
done
keep=" $1 "; shift
for path in /proc/self/fd/*; do
  fd=\${path##*/}
  case "$keep" in *" $fd "*) ;; *) eval "exec $fd>&-" ;; esac
done
exec "$@"
`

export function launchCommand(plan: LaunchPlan): { file: string; args: string[] } {
  const { joinFiles, relocations, user } = plan
  const place = relocations[0] === undefined ? [] : [dirname(relocations[0].target)]
  const args = [
    ...['-c', script, 'launcher'],
    ...[String(joinFiles.length), ...joinFiles],
    ...[
      String(relocations.length),
      ...place,
      ...relocations.flatMap(({ source, target }) => [source, target]),
    ],
    ['0', '1', '2', ...plan.keepDescriptors].join(' '),
    ...(user === undefined ? [] : dropTo(user)),
    ...plan.command,
  ]
  if (relocations.length === 0) return { file: '/bin/bash', args }
  return {
    file: '/usr/bin/unshare',
    args: ['--mount', '--propagation', 'private', '--', '/bin/bash', ...args],
  }
}

function dropTo(user: number): string[] {
  const id = String(user)
  return [
    ...['/usr/bin/setpriv', '--reuid', id, '--regid', id, '--clear-groups', '--no-new-privs'],
    ...['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--'],
  ]
}

/** Empty directories every Linux has; one that none of the sources is in serves as the place of relocated mounts. */
const places = ['/mnt', '/media', '/srv'] as const

/**
 * Which of `sources` another user could not reach, because a directory on the way is closed to others (a checkout
 * under /root, say), each with a path that will lead there.
 */
export function relocate(sources: string[]): Relocation[] {
  const closed = sources.filter((source) => !reachableByOthers(source))
  if (closed.length === 0) return []
  const place = places.find(
    (path) => isDirectory(path) && !sources.some((source) => `${source}/`.startsWith(`${path}/`)),
  )
  if (place === undefined) throw new Error('there is no place to mount what workspaces cannot reach')
  return closed.map((source, index) => ({ source, target: join(place, String(index)) }))
}

function reachableByOthers(path: string): boolean {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & constants.S_IXOTH) === 0) return false
    if (directory === '/') return true
  }
}

function isDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

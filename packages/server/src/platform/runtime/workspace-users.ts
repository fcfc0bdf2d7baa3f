import { createHash } from 'node:crypto'
import { type Stats, statSync } from 'node:fs'
import { AppError } from '../../base/app-error.ts'

/**
 * Host users that nobody else has: systemd's list of user id ranges leaves 1879048192 to 2147352575 unused
 * (systemd.io/UIDS-GIDS), and every C library takes a positive 32-bit number.
 */
export const userRange = { first: 1_879_048_192, last: 2_147_352_575 } as const

/** Users of one server: the range holds 4,095 such parts, and its directory's name decides which is its. */
const usersOfServer = 65_536

/** The host user a workspace's processes run as and its files belong to. */
export interface WorkspaceUsers {
  /** true: every workspace has a user of its own */
  readonly separate: boolean
  /** The user of the workspace whose home is `home`; a free one if the directory has none of ours yet. */
  userOf(home: string): number
}

/**
 * Root gives every workspace a user of its own; the owner of a home is the record of it. Without root all run as the
 * server's user and are kept apart by namespaces alone. `homes` lists the homes there are; `directory` names the server,
 * so that two on one machine do not share users.
 */
export function createWorkspaceUsers({
  own,
  directory,
  homes,
}: {
  own: number
  directory: string
  homes: () => string[]
}): WorkspaceUsers {
  if (own !== 0) return { separate: false, userOf: () => own }
  const taken = new Set(homes().flatMap((home) => ownerOf(home) ?? []))
  const first = firstUserOf(directory)
  let next = first

  function allocate(): number {
    while (taken.has(next)) next += 1
    if (next >= first + usersOfServer)
      throw new AppError('SERVICE_UNAVAILABLE', 'no user is left for another workspace')
    taken.add(next)
    return next
  }

  return {
    separate: true,
    userOf(home) {
      const owner = ownerOf(home)
      // A home that is still root's was made but not yet given away.
      if (owner === undefined || owner === 0) return allocate()
      if (owner < userRange.first || owner > userRange.last) {
        throw new AppError(
          'SERVICE_UNAVAILABLE',
          `the workspace's files belong to user ${owner}, who is not one of the workspaces'`,
        )
      }
      taken.add(owner)
      return owner
    },
  }
}

function firstUserOf(directory: string): number {
  const parts = Math.floor((userRange.last - userRange.first + 1) / usersOfServer)
  const hash = createHash('sha256').update(directory).digest().readUInt32BE(0)
  return userRange.first + (hash % parts) * usersOfServer
}

function ownerOf(path: string): number | undefined {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  return stats?.uid
}

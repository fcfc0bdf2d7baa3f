import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createWorkspaceUsers, type WorkspaceUsers } from './workspace-users.ts'

/** What the host holds of one workspace: `<directory>/<id>/home` is the user's, `run` is the server's. */
export interface WorkspaceDirectory {
  readonly home: string
  readonly run: string
  readonly user: number
}

export interface WorkspaceDirectories {
  readonly users: WorkspaceUsers
  prepare(workspaceId: string): Promise<WorkspaceDirectory>
  remove(workspaceId: string): Promise<void>
}

const execute = promisify(execFile)

/** `separateUsers: false` keeps all files the server's own, for a runtime that does not change users. */
export function createWorkspaceDirectories({
  directory,
  separateUsers = true,
}: {
  directory: string
  separateUsers?: boolean
}): WorkspaceDirectories {
  mkdirSync(directory, { recursive: true })
  const homes = () =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(directory, entry.name, 'home'))
  const own = process.getuid?.() ?? -1
  const users = separateUsers
    ? createWorkspaceUsers({ own, directory, homes })
    : { separate: false, userOf: () => own }

  return {
    users,
    async prepare(workspaceId) {
      const base = join(directory, workspaceId)
      const home = join(base, 'home')
      const run = join(base, 'run')
      // Others may pass through to what is theirs, and see nothing else.
      await mkdir(run, { recursive: true, mode: 0o711 })
      await chmod(base, 0o711)
      await chmod(run, 0o711)
      await mkdir(home, { recursive: true, mode: 0o700 })
      const user = users.userOf(home)
      if (users.separate) await chown(home, user, user)
      return { home, run, user }
    },
    async remove(workspaceId) {
      const base = join(directory, workspaceId)
      const home = join(base, 'home')
      if (existsSync(home)) await removeAs(users.separate ? users.userOf(home) : undefined, home)
      await rm(base, { recursive: true, force: true })
    },
  }
}

/**
 * Empties the home as its own user: whatever the tree looks like, that user can remove nothing but what is its own.
 * `chmod` first, because a directory may have been made unreadable to its owner. From inside, because the way to it may
 * be closed to that user, as a private data directory is.
 */
async function removeAs(user: number | undefined, home: string): Promise<void> {
  const identity = user === undefined ? {} : { uid: user, gid: user }
  const script = 'chmod -R u+rwX . 2>/dev/null; find . -xdev -mindepth 1 -delete'
  const options = { ...identity, cwd: home, env: { PATH: '/usr/bin:/bin' }, maxBuffer: 1024 * 1024 }
  await execute('/bin/sh', ['-c', script], options)
  await rmdir(home)
}

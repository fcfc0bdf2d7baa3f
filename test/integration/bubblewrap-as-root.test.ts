import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bubblewrapArguments,
  sandboxEnvironment,
} from '../../packages/server/src/platform/runtime/sandbox-arguments.ts'
import { defaultWorkspaceLimits } from '../../packages/server/src/platform/runtime/session-runtime.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'

const cannot = noBubblewrap() ?? (process.getuid?.() === 0 ? undefined : 'not root')

/** The second line of defence, for the case that the first, a host user for each workspace, is not there. */
describe.skipIf(cannot)('bubblewrap started by root', () => {
  let bait: string
  beforeAll(() => {
    bait = mkdtempSync(join(tmpdir(), 'atelier-remount-'))
  })
  afterAll(() => rmSync(bait, { recursive: true }))

  /** Tries to write to a directory of the host that is mounted to be read only. */
  function attack(options: string[]): { escaped: boolean; output: string } {
    const file = join(bait, 'escaped')
    const script = 'mount -o remount,bind,rw /opt/bait; touch /opt/bait/escaped'
    const { stderr, error } = spawnSync('bwrap', [...options, '/bin/sh', '-c', script], { encoding: 'utf8' })
    if (error) throw error
    const escaped = existsSync(file)
    rmSync(file, { force: true })
    return { escaped, output: stderr }
  }

  const readOnly = (source: string, target = source) => ({ source, target, writable: false })

  it('[SBX2] lets the sandbox write to the host where capabilities are left; not with our arguments', () => {
    const plain = ['--ro-bind', '/', '/', '--tmpfs', '/opt', '--ro-bind', bait, '/opt/bait', '--unshare-all']
    // The attack itself works, else its failure would prove nothing.
    expect(attack(plain)).toEqual({ escaped: true, output: '' })
    const ours = bubblewrapArguments({
      mounts: [readOnly('/usr'), readOnly(bait, '/opt/bait')],
      links: ['bin', 'sbin', 'lib', 'lib64'].map((name) => ({ path: `/${name}`, target: `usr/${name}` })),
      environment: sandboxEnvironment(),
      limits: defaultWorkspaceLimits,
      filterDescriptor: undefined,
    })
    const { escaped, output } = attack([...ours, '--chdir', '/'])
    expect(escaped).toBe(false)
    expect(output).toMatch(/mount: .*(permission denied|must be superuser)/i)
    expect(output).toMatch(/touch: .*Read-only file system/)
  })
})

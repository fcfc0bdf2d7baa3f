import { describe, expect, it } from 'vitest'
import { bubblewrapArguments, limitCommand, sandboxEnvironment } from './sandbox-arguments.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { defaultWorkspaceLimits } from './session-runtime.ts'

const plan = {
  mounts: [
    { source: '/usr', target: '/usr', writable: false },
    { source: '/data/ws/home', target: '/home/user', writable: true },
  ],
  links: [{ path: '/bin', target: 'usr/bin' }],
  environment: sandboxEnvironment(),
  limits: defaultWorkspaceLimits,
  filterDescriptor: 5,
}

describe("bubblewrap's arguments", () => {
  const args = bubblewrapArguments(plan)

  it.each([
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    '--clearenv',
  ])('[SBX2] always have %s', (flag) => {
    expect(args).toContain(flag)
  })

  it('[SBX2] drop every capability', () => {
    expect(args[args.indexOf('--cap-drop') + 1]).toBe('ALL')
    expect(args).not.toContain('--cap-add')
  })

  it('[SBX2] make only the home writable', () => {
    const writable = args.flatMap((flag, index) =>
      flag === '--bind' || flag.startsWith('--dev-bind') ? [args[index + 2]] : [],
    )
    expect(writable).toEqual(['/home/user'])
    expect(args.join(' ')).toContain('--remount-ro /')
  })

  it('[SBX5] hand in an environment made for the sandbox, whatever the server has', () => {
    const names = args.flatMap((flag, index) => (flag === '--setenv' ? [args[index + 1]] : []))
    expect(names).toEqual(Object.keys(sandboxEnvironment()))
  })

  it('[SBX9] limits are set before the program starts', () => {
    expect(limitCommand({ ...defaultWorkspaceLimits, processes: 7, fileBytes: 8, openFiles: 9 })).toEqual([
      '/usr/bin/prlimit',
      '--nproc=7',
      '--fsize=8',
      '--nofile=9',
      '--core=0',
      '--',
    ])
  })
})

describe('the system call filter', () => {
  it.each(['x64', 'arm64'])('[SBX3] for %s is a program the kernel can take', (architecture) => {
    const filter = seccompFilter(architecture)
    const bytes = Buffer.from(filter ?? [])
    const count = bytes.length / 8
    expect(Number.isInteger(count)).toBe(true)
    // BPF_MAXINSNS
    expect(count).toBeLessThan(4096)
    for (let index = 0; index < count; index += 1) {
      const isJump = (bytes.readUInt16LE(index * 8) & 0x07) === 0x05
      if (!isJump) continue
      const jumps = [bytes.readUInt8(index * 8 + 2), bytes.readUInt8(index * 8 + 3)]
      expect(Math.max(...jumps) + index + 1).toBeLessThan(count)
    }
    // The last instruction, and so every way through, answers.
    expect(bytes.readUInt16LE((count - 1) * 8)).toBe(0x06)
  })

  it('[SBX3] is absent where no table is known, and that is told', () => {
    expect(seccompFilter('riscv64')).toBeUndefined()
  })
})

/**
 * A system call filter in the form the kernel takes (seccomp(2), linux/filter.h): everything is allowed but what no
 * program in a workspace needs and what has opened holes before. The namespaces would refuse most of it anyway; this
 * keeps the code behind those calls out of reach.
 */

/** System call numbers by architecture, from the kernel's asm/unistd_64.h and asm-generic/unistd.h. */
const refused: Record<string, readonly [x64: number | null, arm64: number | null]> = {
  // other file systems and namespaces
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  // files by handle, past every directory's permissions
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  // keyrings are not divided by namespace as one would wish
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // wide interfaces into the kernel
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // the machine itself
  reboot: [169, 142],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  acct: [163, 89],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  iopl: [172, null],
  ioperm: [173, null],
}

const architectures = {
  /** AUDIT_ARCH_X86_64 */
  x64: { audit: 0xc000003e, column: 0, clone: 56, clone3: 435, ioctl: 16 },
  /** AUDIT_ARCH_AARCH64 */
  arm64: { audit: 0xc00000b7, column: 1, clone: 220, clone3: 435, ioctl: 29 },
} as const

/** All CLONE_NEW* flags of clone(2). */
const namespaceFlags = 0x7e020000
/** ioctl(2) requests that put characters into a terminal's input: TIOCSTI, TIOCLINUX. */
const typingRequests = [0x5412, 0x541c] as const

/** Offsets in struct seccomp_data; the low half of an argument comes first on both architectures. */
const offset = { number: 0, architecture: 4, argument0: 16, argument1: 24 } as const

const code = { load: 0x20, jumpEqual: 0x15, jumpAnySet: 0x45, jumpAtLeast: 0x35, answer: 0x06 } as const
const allow = 0x7fff0000
const fail = (errno: number) => 0x00050000 | errno
const EPERM = 1
const ENOSYS = 38

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** The filter's bytes, or undefined for an architecture without a table; then there is no filter and it is reported. */
export function seccompFilter(architecture: string = process.arch): Uint8Array | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined
  const table = architectures[architecture]
  const numbers = Object.values(refused).flatMap((pair) => pair[table.column] ?? [])
  return encode([
    [code.load, 0, 0, offset.architecture],
    [code.jumpEqual, 1, 0, table.audit],
    [code.answer, 0, 0, fail(ENOSYS)],
    [code.load, 0, 0, offset.number],
    // Numbers from here up are the x32 interface: the same calls under other numbers.
    [code.jumpAtLeast, 0, 1, 0x40000000],
    [code.answer, 0, 0, fail(ENOSYS)],
    // clone3 hides its flags in memory; without it the C library falls back to clone, whose flags can be seen.
    ...onNumber(table.clone3, [[code.answer, 0, 0, fail(ENOSYS)]]),
    ...numbers.flatMap((number) => onNumber(number, [[code.answer, 0, 0, fail(EPERM)]])),
    ...onNumber(table.clone, [
      [code.load, 0, 0, offset.argument0],
      [code.jumpAnySet, 0, 1, namespaceFlags],
      [code.answer, 0, 0, fail(EPERM)],
      [code.answer, 0, 0, allow],
    ]),
    ...onNumber(table.ioctl, [
      // The kernel looks at the low 32 bits of the request only, and so does this.
      [code.load, 0, 0, offset.argument1],
      ...typingRequests.flatMap((request): Instruction[] => [
        [code.jumpEqual, 0, 1, request],
        [code.answer, 0, 0, fail(EPERM)],
      ]),
      [code.answer, 0, 0, allow],
    ]),
    [code.answer, 0, 0, allow],
  ])
}

/** Runs `body` for one system call and skips it for the others; expects the number to be loaded. */
function onNumber(number: number, body: Instruction[]): Instruction[] {
  return [[code.jumpEqual, 0, body.length, number], ...body]
}

/** struct sock_filter, little-endian: u16 code, u8 jump if true, u8 jump if false, u32 value. */
function encode(instructions: Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, [operation, ifTrue, ifFalse, value]] of instructions.entries()) {
    view.setUint16(index * 8, operation, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value, true)
  }
  return bytes
}

import { createRequire } from 'node:module'
import * as z from 'zod'

/** The native half of node-pty, which leaves reading and the order of exit and output to us. */
export interface NativePty {
  fork(
    file: string,
    args: string[],
    env: string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helperPath: string,
    onExit: (exitCode: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string }
  resize(fd: number, cols: number, rows: number): void
}

const Shape = z.custom<NativePty>(
  (value) => typeof value === 'object' && value !== null && 'fork' in value && 'resize' in value,
)

/** Loads `pty.node` from beside the program. Throws if there is none for this machine. */
export function loadNativePty(directory: string): NativePty {
  return Shape.parse(createRequire(`${directory}/`)('./pty.node'))
}

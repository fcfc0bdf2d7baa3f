import { readdirSync, readFileSync } from 'node:fs'

/** O_CLOEXEC as /proc/self/fdinfo shows it, in octal. */
const closeOnExec = 0o2000000

/**
 * Open descriptors that came with the process beside 0, 1, 2 and `expected`. Everything Node opens by itself closes on
 * exec, so one that does not was inherited: a door to whatever the starter had open. Empty where there is no /proc.
 */
export function strayDescriptors(expected: number | undefined): number[] {
  return readDescriptors().filter(
    (descriptor) => descriptor > 2 && descriptor !== expected && !closesOnExec(descriptor),
  )
}

function readDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number)
  } catch {
    return []
  }
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) !== 0
  } catch {
    // Closed since it was listed: the listing's own descriptor.
    return true
  }
}

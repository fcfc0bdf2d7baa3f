import { maxPathLength } from '@atelier/contract'

/** Bytes of one name on every file system that a workspace may be put on. */
const maxSegmentBytes = 255

/** Folders above a file, as many as a listing may show; unbounded, short archives could hold quadratic work. */
const maxDepth = 64

/** Longest part of a name that a message repeats. */
const shownNameLength = 200

/**
 * Where an entry belongs in the workspace: a relative path in NFC without `.` or empty segments; `''` is the root.
 * `unsafe` reaches out of it, which nobody does by mistake; `unusable` is a name that we cannot keep.
 */
export type EntryPath =
  | { kind: 'path'; path: string }
  | { kind: 'unsafe'; issue: string }
  | { kind: 'unusable'; path: string; reason: string }

/** Judges a name from an archive or a form. Case is kept: names that differ in it alone are two files. */
export function entryPath(name: string): EntryPath {
  const path = name
    .normalize('NFC')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')
  // Asked of both: `./C:x` is a drive only once its dot is gone, `/x` is absolute only before.
  const issue = unsafeIssue(name) ?? unsafeIssue(path)
  if (issue !== undefined) return { kind: 'unsafe', issue }
  const reason = unusableReason(path)
  return reason === undefined ? { kind: 'path', path } : { kind: 'unusable', path, reason }
}

function unsafeIssue(name: string): string | undefined {
  if (name.includes('\0')) return 'holds a NUL'
  if (/^[/\\]/.test(name)) return 'is an absolute path'
  if (/^[A-Za-z]:/.test(name)) return 'starts with a drive letter'
  return name.split(/[/\\]/).includes('..') ? 'leads out of its folder by ".."' : undefined
}

function unusableReason(path: string): string | undefined {
  if (path.includes('\uFFFD')) return 'has a name that is not UTF-8'
  if (path.includes('\\')) return 'has a backslash in its name'
  if (/\p{Cc}/u.test(path)) return 'has a control character in its name'
  if (path.length > maxPathLength) return `has a path of more than ${maxPathLength} characters`
  const segments = path.split('/')
  if (segments.length > maxDepth) return `is more than ${maxDepth} folders deep`
  const tooLong = segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)
  return tooLong ? `has a name of more than ${maxSegmentBytes} bytes` : undefined
}

/** A name as a message may show it: shortened, and without anything that a terminal would act on. */
export function shownName(name: string): string {
  const clean = name.replaceAll(/\p{Cc}/gu, '\uFFFD')
  return clean.length > shownNameLength ? `${clean.slice(0, shownNameLength)}…` : clean
}

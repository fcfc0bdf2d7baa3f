import { createHash } from 'node:crypto'
import { WorkspacePath } from '@atelier/contract'
import { decodeText } from './decode-text.ts'
import { languageOf } from './language.ts'
import { type SkipReason, skipByPath, skipBySize } from './skip-reason.ts'

export interface SourceFile {
  path: string
  bytes: Uint8Array
}

/** A file of which nothing but its size and digest was read: one that `readsContent` is false for. */
export interface UnreadFile {
  path: string
  size: number
  contentSha256: string
}

/** A file that has been looked at, before its content is compared with what is stored. */
export interface JudgedFile {
  path: string
  bytes: number
  contentSha256: string
  language: string | null
  /** null: not text, or not worth keeping */
  text: string | null
  verdict: { kind: 'index' } | { kind: 'skip'; reason: SkipReason } | { kind: 'fail'; reason: string }
}

/** Of these not even the text is kept: it can be had again, or is none. */
const notKept: ReadonlySet<SkipReason> = new Set(['vendored', 'binary', 'too-large'])

/** False where path or size keeps a file out in such a way that its content does not matter. */
export function readsContent(path: string, size: number): boolean {
  const early = skipByPath(path) ?? skipBySize(size)
  return early === null || !notKept.has(early)
}

/** Everything that path, size and bytes decide; what the text decides is left to the indexing thread. */
export function judgeFile(source: SourceFile | UnreadFile): JudgedFile {
  return 'bytes' in source ? judgeRead(source) : judgeUnread(source)
}

function judgeUnread({ path, size, contentSha256 }: UnreadFile): JudgedFile {
  const file = { path, bytes: size, contentSha256, language: languageOf(path), text: null }
  const fault = faultOfPath(path)
  if (fault !== undefined) return { ...file, verdict: { kind: 'fail', reason: `The path ${fault}.` } }
  const reason = skipByPath(path) ?? skipBySize(size)
  if (reason === null || !notKept.has(reason))
    throw new TypeError(`${path} cannot be judged without its content`)
  return { ...file, verdict: { kind: 'skip', reason } }
}

function judgeRead({ path, bytes }: SourceFile): JudgedFile {
  const file = {
    path,
    bytes: bytes.length,
    contentSha256: createHash('sha256').update(bytes).digest('hex'),
    language: languageOf(path),
    text: null,
  }
  const fault = faultOfPath(path)
  if (fault !== undefined) return { ...file, verdict: { kind: 'fail', reason: `The path ${fault}.` } }
  const early = skipByPath(path) ?? skipBySize(bytes.length)
  if (early !== null && notKept.has(early)) return { ...file, verdict: { kind: 'skip', reason: early } }
  const decoded = decodeText(bytes)
  if (decoded.kind === 'refused') return { ...file, verdict: { kind: 'skip', reason: decoded.reason } }
  return {
    ...file,
    language: languageOf(path, decoded.text),
    text: decoded.text,
    verdict: early === null ? { kind: 'index' } : { kind: 'skip', reason: early },
  }
}

function faultOfPath(path: string): string | undefined {
  return path === '' ? 'must not be empty' : WorkspacePath.safeParse(path).error?.issues[0]?.message
}

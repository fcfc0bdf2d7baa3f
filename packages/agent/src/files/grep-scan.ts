import { readFileSync } from 'node:fs'
import { fileLimits } from '@atelier/contract/agent-files'
import * as z from 'zod'
import { Fault } from '../fault.ts'
import { openDirectoryAt } from './directory-handle.ts'
import { maxSearchedFile } from './grep.ts'
import { shownMatch } from './grep-output.ts'
import { globMatcher } from './ignore-rules.ts'
import { lookUp } from './open-file.ts'
import { walk, wholeTree } from './walk.ts'

export const ScanRequest = z.strictObject({
  query: z.string().min(1),
  regex: z.boolean(),
  caseSensitive: z.boolean(),
  wholeWord: z.boolean(),
  glob: z.string().optional(),
})
export type ScanRequest = z.infer<typeof ScanRequest>

/** A file with a NUL this early is binary, as Git and ripgrep judge it. */
const sniffedBytes = 8000

/**
 * Searches the current directory for machines without ripgrep: one line of JSON per matching line. Runs as a process
 * of its own, which its parent stops by limit and time.
 */
export function scan(request: ScanRequest, print: (line: string) => void): void {
  const pattern = patternOf(request)
  const matches = request.glob === undefined ? undefined : globMatcher(request.glob)
  using root = openDirectoryAt(process.cwd())
  for (const { path, name, parent, isDirectory } of walk(root, {
    ...wholeTree,
    depth: fileLimits.depth,
    gitignore: 'hide',
  })) {
    if (isDirectory || (matches !== undefined && !matches(path))) continue
    const stats = lookUp(parent, name)
    if (stats === undefined || !stats.isFile() || stats.size > maxSearchedFile) continue
    const content = readQuietly(parent.at(name))
    if (content === undefined || content.subarray(0, sniffedBytes).includes(0)) continue
    scanText(path, content.toString('utf8'), { pattern, print })
  }
}

function scanText(
  path: string,
  text: string,
  { pattern, print }: { pattern: RegExp; print: (line: string) => void },
): void {
  let line = 0
  for (const content of text.split('\n')) {
    line += 1
    const found = pattern.exec(content)
    if (found === null) continue
    const end = found.index + found[0].length
    print(`${JSON.stringify(shownMatch({ path, line, text: content, start: found.index, end }))}\n`)
  }
}

function patternOf({ query, regex, caseSensitive, wholeWord }: ScanRequest): RegExp {
  const source = regex ? query : RegExp.escape(query)
  try {
    return new RegExp(wholeWord ? `\\b(?:${source})\\b` : source, caseSensitive ? 'u' : 'iu')
  } catch (error) {
    throw new Fault('INVALID', error instanceof Error ? error.message : 'not a pattern', { cause: error })
  }
}

function readQuietly(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    // Unreadable or gone: nothing can be found in it.
    return undefined
  }
}

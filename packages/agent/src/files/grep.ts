import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { GrepMatch } from '@atelier/contract/agent-files'
import type { AgentParams, AgentResult } from '@atelier/contract/agent-protocol'
import { Fault } from '../fault.ts'
import { openDirectory } from './directory-handle.ts'
import { matchFromRipgrep, matchFromScan } from './grep-output.ts'
import type { Workspace } from './workspace.ts'

/** Files above this are not searched: they are data, and a line of theirs may not fit in memory. */
export const maxSearchedFile = 4 * 1024 * 1024

export function findRipgrep(path: string | undefined = process.env.PATH): string | undefined {
  return (path ?? '')
    .split(delimiter)
    .filter((directory) => directory.startsWith('/'))
    .map((directory) => join(directory, 'rg'))
    .find((candidate) => existsSync(candidate))
}

interface Engine {
  name: 'ripgrep' | 'scan'
  command: string
  args: string[]
  read: (line: string) => GrepMatch | undefined
}

/**
 * Searches file contents with ripgrep, or with the agent's own scan in a process of its own, so that a costly pattern
 * can be stopped. Hidden files are searched, ignored ones, binary ones and those above 4 MiB are not.
 * Throws INVALID for a pattern the engine refuses, TIMEOUT.
 */
export async function grep(
  workspace: Workspace,
  params: AgentParams<'files.grep'>,
  { signal, ripgrep, program }: { signal: AbortSignal; ripgrep: string | undefined; program: string },
): Promise<AgentResult<'files.grep'>> {
  const engine = ripgrep === undefined ? scanEngine(params, program) : ripgrepEngine(params, ripgrep)
  using directory = openDirectory(workspace.root, params.path)
  const prefix = params.path === '' ? '' : `${params.path}/`
  const found = await runEngine(engine, {
    cwd: directory.at(),
    limit: params.limit,
    timeoutMs: params.timeoutMs,
    signal,
  })
  const matches = found.matches
    .map((match) => ({ ...match, path: prefix + match.path }))
    .sort((a, b) => (a.path === b.path ? a.line - b.line || a.column - b.column : a.path < b.path ? -1 : 1))
  return { matches, truncated: found.truncated, engine: engine.name }
}

function ripgrepEngine(params: AgentParams<'files.grep'>, command: string): Engine {
  const flag = (on: boolean, name: string) => (on ? [name] : [])
  const args = [
    ...['--json', '--no-config', '--hidden', '--no-follow', '--no-messages', '--threads=2', '--crlf'],
    `--max-filesize=${maxSearchedFile}`,
    '--glob=!.git',
    ...(params.glob === undefined ? [] : [`--glob=${params.glob}`]),
    ...flag(!params.regex, '--fixed-strings'),
    ...flag(!params.caseSensitive, '--ignore-case'),
    ...flag(params.wholeWord, '--word-regexp'),
    // `--no-require-git`: a .gitignore counts before `git init`, as it does for listings.
    ...['--no-require-git', `--regexp=${params.query}`, '--', '.'],
  ]
  return { name: 'ripgrep', command, args, read: matchFromRipgrep }
}

function scanEngine(params: AgentParams<'files.grep'>, program: string): Engine {
  const { query, regex, caseSensitive, wholeWord, glob } = params
  const request = JSON.stringify({ query, regex, caseSensitive, wholeWord, glob })
  return { name: 'scan', command: process.execPath, args: [program, 'scan', request], read: matchFromScan }
}

interface RunOptions {
  cwd: string
  limit: number
  timeoutMs: number
  signal: AbortSignal
}

async function runEngine(
  engine: Engine,
  options: RunOptions,
): Promise<{ matches: GrepMatch[]; truncated: boolean }> {
  const child = spawn(engine.command, engine.args, { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const stop = AbortSignal.any([options.signal, deadline])
  const kill = () => child.kill('SIGKILL')
  stop.addEventListener('abort', kill, { once: true })
  const matches: GrepMatch[] = []
  let truncated = false
  let complaint = ''
  child.stderr.on('data', (text: Buffer) => {
    if (complaint.length < 2000) complaint += text.toString('utf8')
  })
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const match = engine.read(line)
      if (match === undefined || truncated) continue
      truncated = matches.length >= options.limit
      if (truncated) kill()
      else matches.push(match)
    }
    const exitCode = await closed
    options.signal.throwIfAborted()
    if (deadline.aborted) throw new Fault('TIMEOUT', `the search took longer than ${options.timeoutMs} ms`)
    // 0: found, 1: found nothing, 2: refused or partly unreadable.
    if (exitCode === 2 && matches.length === 0 && complaint !== '') {
      throw new Fault('INVALID', complaint.trim().slice(0, 1000), { details: { field: 'query' } })
    }
    return { matches, truncated }
  } finally {
    stop.removeEventListener('abort', kill)
    kill()
  }
}

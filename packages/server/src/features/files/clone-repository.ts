import { outputChannels } from '@atelier/contract/agent-processes'
import { AppError } from '../../base/app-error.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { AgentError } from '../../platform/runtime/agent-error.ts'
import { clonePrefix } from './clone-directory.ts'
import { cloneFailure, createGitOutput } from './git-output.ts'

/** Milliseconds until a clone is given up. */
const cloneMilliseconds = 15 * 60_000
/** Bytes of progress and messages that git may write. */
const maxOutputBytes = 16 * 1024 * 1024
/** Entries of a repository's root: they are moved into place in one batch. */
const maxRootEntries = 1_000

/** Nothing but https, no questions, no hooks, no configuration but this. */
const gitOptions = [
  ...['-c', 'protocol.allow=never', '-c', 'protocol.https.allow=always'],
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'credential.helper=', '-c', 'http.followRedirects=initial'],
]
const gitEnvironment = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_LFS_SKIP_SMUDGE: '1',
}

export interface CloneRequest {
  gitUrl: string
  branch?: string | undefined
  /** a directory that is not there yet; '' is the root, which must be empty */
  path: string
  /** names the directory it is cloned into until it is whole; the same for every attempt */
  id: string
}

export interface CloneOptions {
  signal: AbortSignal
  onPhase(phase: string): void
  /** added to git's environment */
  environment?: Record<string, string>
}

/**
 * Clones the newest commit of a repository inside the sandbox, all or nothing. Throws AppError: CONFLICT where its place
 * is taken, NOT_FOUND for the repository or the branch, FORBIDDEN for the host, PROVIDER_ERROR for what else git says.
 */
export async function cloneRepository(
  client: AgentClient,
  request: CloneRequest,
  options: CloneOptions,
): Promise<{ commit: string }> {
  const staging = `${clonePrefix}${request.id}`
  await removeQuietly(client, staging)
  await refuseTaken(client, request.path)
  try {
    await runGit(client, cloneCommand(request, staging), options)
    const commit = await headOf(client, staging, options)
    await moveIn(client, staging, request.path)
    return { commit }
  } finally {
    await removeQuietly(client, staging)
  }
}

function cloneCommand({ gitUrl, branch }: CloneRequest, staging: string): string[] {
  return [
    ...['git', ...gitOptions, 'clone', '--depth=1', '--single-branch', '--no-tags', '--progress'],
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
    ...['--', gitUrl, staging],
  ]
}

async function refuseTaken(client: AgentClient, path: string): Promise<void> {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  try {
    const { entries } = await client.call('files.list', { path: path === '' ? '' : parent })
    const taken = path === '' ? entries[0] : entries.find((entry) => entry.path === path)
    if (taken === undefined) return
    const hint = path === '' ? '; name a new directory for the repository as `path`' : ''
    throw new AppError('CONFLICT', `${taken.path} is there already${hint}`, { details: { path: taken.path } })
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== 'NOT_FOUND') throw error
  }
}

async function runGit(
  client: AgentClient,
  command: string[],
  { signal, onPhase, environment }: CloneOptions,
): Promise<string> {
  const env = { ...gitEnvironment, ...environment }
  const call = client.open(
    'command.run',
    { command, env, timeoutMs: cloneMilliseconds, maxOutputBytes },
    { signal },
  )
  call.end()
  const progress = createGitOutput()
  let answer = ''
  for await (const message of call.messages) {
    if (message.kind !== 'data') continue
    if (message.channel === outputChannels.stdout) answer += Buffer.from(message.bytes).toString('utf8')
    else {
      progress.push(message.bytes)
      const phase = progress.phase()
      if (phase !== null) onPhase(phase)
    }
  }
  const { exitCode, stopped } = await call.result.catch((error: unknown) => {
    throw error instanceof AgentError && error.code === 'NOT_FOUND' ? gitMissing(error) : error
  })
  if (stopped === 'timeout')
    throw new AppError('PROVIDER_ERROR', `The clone took longer than ${cloneMilliseconds / 60_000} minutes`)
  if (exitCode !== 0 || stopped !== null) throw cloneFailure(progress.lastWords())
  return answer.trim()
}

function gitMissing(cause: AgentError): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    'git is not installed where workspaces run: `apt-get install git`',
    { cause },
  )
}

async function headOf(client: AgentClient, staging: string, options: CloneOptions): Promise<string> {
  return await runGit(client, ['git', '-C', staging, 'rev-parse', 'HEAD'], {
    ...options,
    onPhase: () => undefined,
  })
}

async function moveIn(client: AgentClient, staging: string, path: string): Promise<void> {
  if (path !== '') {
    await client.call('files.move', { from: staging, to: path })
    return
  }
  const { entries, next } = await client.call('files.list', { path: staging, limit: maxRootEntries })
  if (next !== null)
    throw new AppError(
      'INVALID_REQUEST',
      `The root of the repository has more than ${maxRootEntries} entries`,
    )
  const operations = entries.map((entry) => ({
    op: 'move' as const,
    from: entry.path,
    to: entry.path.slice(staging.length + 1),
  }))
  await client.call('files.batch', { operations }, { body: new Uint8Array() })
}

async function removeQuietly(client: AgentClient, path: string): Promise<void> {
  try {
    await client.call('files.delete', { path, recursive: true }, { timeoutMs: 120_000 })
  } catch (error) {
    // Nothing there, or no agent any more: the next start removes what is left.
    if (!(error instanceof AgentError) || (error.code !== 'NOT_FOUND' && error.code !== 'GONE')) throw error
  }
}

import { createClient } from '@atelier/client'
import { createWorkspace, importIntoWorkspace } from '@atelier/contract'
import { signUpPerson, startTestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { cloneRepository } from '../../packages/server/src/features/files/clone-repository.ts'
import type { AgentClient } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { type GitSite, startGitSite } from './git-site.ts'
import { readText, shell } from './runtime-support/agent-calls.ts'
import { isolatingRuntimes, noBubblewrap, type RuntimeSite } from './runtime-support/runtimes.ts'

// Servers are started and stopped here; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 180_000 })

describe.skipIf(noBubblewrap())('a repository', () => {
  let git: GitSite
  let site: RuntimeSite
  let agent: AgentClient
  beforeAll(async () => {
    git = await startGitSite({ 'src/a.ts': 'export const a = 1\n', 'README.md': '# project\n' })
    const [bubblewrap] = isolatingRuntimes
    if (bubblewrap === undefined) throw new Error('no runtime')
    // The one exception of this test: every name leads to this machine.
    site = await bubblewrap.open({ egress: { resolve: async () => ['127.0.0.1'], mayConnect: () => true } })
    agent = (await site.open('ws_clone', { egress: { allow: [`git.test:${git.port}`] } })).agent
  })
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]()
    await git?.[Symbol.asyncDispose]()
  })
  beforeEach(() => shell(agent, 'rm -rf ./* ./.[!.]*'))

  const phases: string[] = []
  const clone = (more: { gitUrl?: string; path?: string; branch?: string } = {}) =>
    cloneRepository(
      agent,
      { gitUrl: `https://git.test:${git.port}/project.git`, path: '', id: 'job_test', ...more },
      {
        signal: AbortSignal.timeout(120_000),
        onPhase: (phase) => phases.push(phase),
        environment: { GIT_SSL_NO_VERIFY: '1' },
      },
    )
  const names = async () => (await agent.call('files.list', { path: '' })).entries.map(({ path }) => path)

  it('[IMP17] is cloned inside the sandbox, through the proxy, with its newest commit', async () => {
    expect(await clone()).toEqual({ commit: git.commit })
    expect(await names()).toEqual(['.git', 'README.md', 'src'])
    expect(await readText(agent, 'src/a.ts')).toBe('export const a = 1\n')
    expect((await shell(agent, 'git log --format=%s && git status --porcelain')).stdout).toBe('first\n')
    expect(phases.length).toBeGreaterThan(0)
  })

  it('[IMP17] goes into a new directory, never over what is there', async () => {
    await shell(agent, 'echo mine > mine.txt')
    await expect(clone()).rejects.toMatchObject({ code: 'CONFLICT' })
    await clone({ path: 'lib' })
    await expect(clone({ path: 'lib' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await names()).toEqual(['lib', 'mine.txt'])
  })

  it.each([
    ['a branch that is not there', { branch: 'no' }, 'NOT_FOUND'],
    ['a repository that is not there', { name: 'no.git' }, 'NOT_FOUND'],
    ['a host that is not allowed', { host: 'other.test' }, 'FORBIDDEN'],
    ['a file of the machine', { gitUrl: 'file:///etc' }, 'PROVIDER_ERROR'],
    ['a command', { gitUrl: 'ext::sh -c "touch pwned"' }, 'PROVIDER_ERROR'],
  ])('[IMP17] from %s fails and leaves nothing', async (_title, wrong: Record<string, string>, code) => {
    const { host = 'git.test', name = 'project.git', ...more } = wrong
    const gitUrl = `https://${host}:${git.port}/${name}`
    await expect(clone({ gitUrl, ...more })).rejects.toMatchObject({ code })
    expect(await names()).toEqual([])
  })

  it('[IMP17] is refused before anything starts where it cannot be had', async () => {
    const url = 'https://git.example/p.git'
    const serverWith = (environment: Record<string, string>) => startTestServer({ environment })
    await using closed = await serverWith({})
    expect(await refusals(closed.url, [url])).toEqual([[503, undefined]])
    await using open = await serverWith({ ATELIER_WORKSPACE_EGRESS: 'git.example' })
    const wrong = [
      'https://other.example/p.git',
      'http://git.example/p.git',
      'https://me:secret@git.example/p.git',
    ]
    expect(await refusals(open.url, wrong)).toEqual(wrong.map(() => [400, 'gitUrl']))
  })

  async function refusals(url: string, gitUrls: string[]): Promise<unknown[]> {
    const ada = await signUpPerson(url)
    const api = createClient({ baseUrl: url, headers: ada.headers })
    const { id } = await api.call(createWorkspace, { body: { name: 'Clone' } })
    return await Promise.all(
      gitUrls.map((gitUrl) =>
        api.call(importIntoWorkspace, { params: { workspaceId: id }, body: { gitUrl } }).then(
          () => 'accepted',
          ({ status, details }: { status: number; details?: { field?: string } }) => [status, details?.field],
        ),
      ),
    )
  }
})

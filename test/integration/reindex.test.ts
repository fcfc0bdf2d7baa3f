import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changeFiles, createFile, getIndexState, searchWorkspace, stopWorkspace } from '@atelier/contract'
import { type Person, signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runIn } from '../contract/run-in-workspace.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import { openSession } from './session-site.ts'

const isRoot = process.getuid?.() === 0

describe.skipIf(noBubblewrap())('search follows the directory', () => {
  let server: TestServer
  let ada: Person
  let place: Awaited<ReturnType<typeof openSession>>
  beforeAll(async () => {
    server = await startTestServer()
    ada = await signUpPerson(server.url)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    place = await openSession(server, ada)
  })

  const shell = (script: string) => runIn(server.url, ada, { workspaceId: place.workspaceId, script })
  const create = (path: string, content: string) =>
    place.api.call(createFile, { body: { workspaceId: place.workspaceId, path, content } })
  const changes = async () =>
    (await place.api.call(getIndexState, { query: { workspaceId: place.workspaceId } })).changes
  /** Paths whose found text has this word in it. */
  async function pathsOf(word: string): Promise<string[]> {
    const body = { workspaceId: place.workspaceId, query: word }
    const { results } = await place.api.call(searchWorkspace, { body })
    return results
      .filter(({ content }) => content.includes(word))
      .map(({ path }) => path)
      .toSorted()
  }
  const finds = (word: string, paths: string[]) =>
    expect.poll(() => pathsOf(word), { timeout: 30_000 }).toEqual(paths)
  const line = (word: string) => `export const ${word} = 1\n`

  it('[IDX1][IDX9] what a program or the interface changes is found, and what is gone is not', async () => {
    await shell(`echo '${line('alphaword')}' > a.ts; mkdir d; echo '${line('betaword')}' > d/b.ts`)
    await finds('alphaword', ['a.ts'])
    await finds('betaword', ['d/b.ts'])
    await shell(`echo '${line('gammaword')}' > a.ts; mv d e`)
    await finds('gammaword', ['a.ts'])
    await finds('alphaword', [])
    await finds('betaword', ['e/b.ts'])
    await place.api.call(changeFiles, {
      body: {
        workspaceId: place.workspaceId,
        operations: [
          { op: 'delete', path: 'e' },
          { op: 'create', path: 'f.ts', content: line('deltaword') },
        ],
      },
    })
    await finds('betaword', [])
    await finds('deltaword', ['f.ts'])
    await expect.poll(changes).toEqual({ pending: 0, watching: 'native', reason: null })
    await place.api.call(stopWorkspace, place.params)
    expect(await changes()).toEqual({ pending: 0, watching: null, reason: null })
  })

  it('[IDX7] what a .gitignore names leaves search when it is named, and comes back when it is not', async () => {
    await create('out/a.ts', line('ignoredword'))
    await create('src/a.ts', line('keptword'))
    await finds('ignoredword', ['out/a.ts'])
    await shell('echo out/ > .gitignore')
    await finds('ignoredword', [])
    await finds('keptword', ['src/a.ts'])
    await shell('rm .gitignore; ln -s src/a.ts link.ts; mkdir -p node_modules/x; cp src/a.ts node_modules/x/')
    await finds('ignoredword', ['out/a.ts'])
    await finds('keptword', ['src/a.ts'])
  })

  it('[IDX8] what changed while nobody watched is found after the next start', async () => {
    await create('a.ts', line('beforeword'))
    await finds('beforeword', ['a.ts'])
    await place.api.call(stopWorkspace, place.params)
    writeFileSync(join(place.directory, 'home/workspace/a.ts'), line('meanwhileword'))
    await place.start()
    await finds('meanwhileword', ['a.ts'])
    await finds('beforeword', [])
  })

  // Without a host user of its own the workspace would take the machine's watchers from everybody else.
  it.runIf(isRoot)(
    '[IDX9][AGT32] where the kernel cannot watch it says so, and goes on by comparing',
    async () => {
      await create('a.ts', line('firstword'))
      await finds('firstword', ['a.ts'])
      await place.api.call(stopWorkspace, place.params)
      await using hog = await takeWatchers(statSync(join(place.directory, 'home')).uid)
      await place.start()
      await expect.poll(changes).toMatchObject({
        watching: 'polling',
        reason: expect.stringMatching(/EMFILE|too many open files/i),
      })
      await shell(`echo '${line('secondword')}' > b.ts`)
      await finds('secondword', ['b.ts'])
      expect(hog.taken).toBeGreaterThan(0)
    },
  )

  it.runIf(isRoot)('[AGT32] a program that takes all watchers does not take the agent’s', async () => {
    await create('a.ts', line('firstword'))
    await expect.poll(changes).toMatchObject({ pending: 0, watching: 'native' })
    await using hog = await takeWatchers(statSync(join(place.directory, 'home')).uid)
    expect(hog.taken).toBeGreaterThan(0)
    // A directory that appears with directories in it makes the agent watch anew.
    await shell(`mkdir -p t/deep/er && mv t moved && echo '${line('deepword')}' > moved/deep/er/a.ts`)
    await finds('deepword', ['moved/deep/er/a.ts'])
    await shell(`echo '${line('laterword')}' > moved/deep/er/b.ts`)
    await finds('laterword', ['moved/deep/er/b.ts'])
    expect(await changes()).toMatchObject({ watching: 'native', reason: null })
  })

  /** Takes every inotify instance that a user of this machine may still have. */
  async function takeWatchers(user: number): Promise<{ taken: number } & AsyncDisposable> {
    const call = process.arch === 'x64' ? 'syscall(253)' : 'syscall(26, 0)'
    const script = `$| = 1; my $n = 0; $n++ while ${call} >= 0; print "$n\\n"; sleep 1000`
    const child = spawn('perl', ['-e', script], {
      uid: user,
      gid: user,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const [taken] = await once(child.stdout, 'data')
    return {
      taken: Number(taken),
      async [Symbol.asyncDispose]() {
        child.kill()
        await exited
      },
    }
  }
})

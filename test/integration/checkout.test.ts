import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@atelier/client'
import {
  createWorkspace,
  getIndexState,
  getWorkspaceStatus,
  readFiles,
  searchWorkspace,
  startWorkspace,
} from '@atelier/contract'
import { openDatabase } from '@atelier/server/database'
import { type Person, signUpPerson, templateDirectory } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runIn } from '../contract/run-in-workspace.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { sessionOf } from './session-site.ts'

const files = 20_000
const folders = 200
/** Contents that differ: what is measured is how changes travel, not how fast texts are cut. */
const contents = 400

/** Writes every file with a name in it that only this version has. */
const write = (version: string) =>
  `perl -e 'mkdir "src"; for my $n (0..${files - 1}) { my $d = "src/d" . $n % ${folders}; mkdir $d; open(my $f, ">", "$d/f$n.ts"); print $f "export const ${version}_" . $n % ${contents} . " = 1\\n" }'`

const isRoot = process.getuid?.() === 0

/** Most memory that a process has had. An agent without work has 65 MB; unbounded queues of changes would show. */
function peakMegabytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024
}

describe.skipIf(noBubblewrap())(`a checkout of ${files} files`, () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'atelier-checkout-'))
  let server: ServerProcess
  let ada: Person
  let workspaceId: string
  beforeAll(async () => {
    server = await startServerProcess({
      ATELIER_DATA_DIR: dataDirectory,
      RATE_LIMIT_STANDARD: '100000',
      RATE_LIMIT_AI: '100000',
    })
    ada = await signUpPerson(server.url)
    workspaceId = (await api().call(createWorkspace, { body: { name: 'Checkout' } })).id
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    rmSync(dataDirectory, { recursive: true, force: true })
  })
  const place = () => sessionOf(workspaceId, api, dataDirectory)
  const api = () => createClient({ baseUrl: server.url, headers: ada.headers })
  const shell = async (script: string) => {
    const { exitCode, stdout } = await runIn(server.url, ada, { workspaceId, script })
    expect(exitCode, stdout).toBe(0)
  }

  /** Waits until search knows the directory as it is, and asks for other things meanwhile; answers how often. */
  async function indexed(): Promise<number> {
    for (let answers = 0; ; answers += 1) {
      const { changes, documents } = await api().call(getIndexState, { query: { workspaceId } })
      if (changes.pending === 0 && documents === files) return answers
      const { state } = await api().call(getWorkspaceStatus, { params: { workspaceId } })
      const listing = await api().call(readFiles, { query: { workspaceId, path: 'src/d7' } })
      expect([state, listing.kind]).toEqual(['running', 'directory'])
      await sleep(50)
    }
  }

  async function finds(query: string): Promise<boolean> {
    const { results } = await api().call(searchWorkspace, { body: { workspaceId, query } })
    return results.some(({ content }) => content.split(/\W+/).includes(query))
  }

  it('[IDX1][IDX5] is in search in the end, nothing lost, while everything else is answered', async () => {
    await api().call(startWorkspace, { params: { workspaceId } })
    const git = 'git -c user.name=ada -c user.email=ada@example.com'
    await shell(`git init -q . && ${write('first')} && git add src && ${git} commit -qm first`)
    await shell(`git checkout -qb second && ${write('second')} && git add src && ${git} commit -qm second`)
    await indexed()
    expect(await finds('second_7')).toBe(true)
    await shell('git checkout -q -')
    expect(await indexed()).toBeGreaterThan(0)
    expect([await finds('first_7'), await finds('second_7')]).toEqual([true, false])
    if (isRoot) expect(Math.max(...place().pidsOfAgent().map(peakMegabytes))).toBeLessThan(400)
    await server.stop()
    expect(await known()).toEqual(onDisk())
  }, 900_000)

  /** What search knows, by path: the digest of each content. */
  async function known(): Promise<Map<string, string>> {
    await using database = await openDatabase({
      dataDirectory: join(dataDirectory, 'database'),
      templateDirectory,
      logger: { info() {}, warn() {}, error() {} },
    })
    const rows = await database.kysely.selectFrom('documents').select(['path', 'content_sha256']).execute()
    return new Map(rows.map((row) => [row.path, row.content_sha256]).toSorted() as [string, string][])
  }

  function onDisk(): Map<string, string> {
    const root = join(place().directory, 'home/workspace')
    const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    return new Map(
      paths
        .filter((path) => path.endsWith('.ts'))
        .map((path): [string, string] => [
          `src/${path}`,
          createHash('sha256')
            .update(readFileSync(join(root, 'src', path)))
            .digest('hex'),
        ])
        .toSorted(),
    )
  }
})

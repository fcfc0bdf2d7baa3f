import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { signUpPerson, startTestServer } from '@atelier/testkit'
import { expect, it } from 'vitest'
import { noBubblewrap } from '../integration/runtime-support/runtimes.ts'
import { openLiveWorkspace } from './live-workspace.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/files.md'), 'utf8')

it.skipIf(noBubblewrap())(
  '[FILE1, FILE10, FILE11, FILE16, FILE17, FILE18] every command of the guide works as it is written',
  async () => {
    await using server = await startTestServer()
    const ada = await signUpPerson(server.url)
    const { workspaceId } = await openLiveWorkspace(server.url, ada)
    const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(guide) ?? []
    // The last one listens for ever.
    const script = commands.slice(0, commands.indexOf('# what changes'))
    const directory = await mkdtemp(join(tmpdir(), 'atelier-guide-'))
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euc', script.replaceAll('curl -s', 'curl -fsS')],
      {
        cwd: directory,
        env: { PATH: process.env.PATH, A: server.url, W: workspaceId, K: await ada.apiKey() },
      },
    )
    expect(stdout).toContain('"op":"move","path":"src/b.ts"')
    expect(stdout).toContain('"path":"src/b.ts","line":1')
    expect(stdout.trimEnd()).toMatch(/export$/)
    expect(readFileSync(join(directory, 'project.zip')).subarray(0, 2).toString()).toBe('PK')
    await rm(directory, { recursive: true })
  },
)

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '../packages/testkit/src/browser.ts'
import { noDockerDaemon } from './integration/runtime-support/docker-daemon.ts'

/** Prints what the full suite needs and this machine lacks, one a line: why tests were skipped. `.ci/run` installs it. */
const codeServer =
  process.env.ATELIER_CODE_SERVER_DIR ?? join(import.meta.dirname, '../.atelier-tools/code-server')
const docker = noDockerDaemon()
const browser = await launchBrowser()
await browser?.close()

const missing = [
  lacks('bwrap') && 'sandboxes: bubblewrap is not installed',
  docker && `containers: ${docker}`,
  lacks('rg') && 'searching with ripgrep: it is not installed',
  lacks('pg_config') &&
    !existsSync('/usr/lib/postgresql') &&
    'PostgreSQL: it is not installed (bash scripts/install-postgres.sh)',
  !existsSync(join(codeServer, 'installed.json')) &&
    'editor sessions: code-server is not installed (npm run install:code-server)',
  browser === null && 'the page in a browser: no Chromium starts',
  process.getuid?.() !== 0 && 'users of their own for workspaces: not root',
]
for (const line of missing) if (line) process.stdout.write(`  - ${line}\n`)

function lacks(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined
}

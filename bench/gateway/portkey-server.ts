import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ChildServer, startChild } from './child-server.ts'

/**
 * Its HTTP adapter is the lowest version that it declares: with newer ones every stream fails with `TypeError: immutable`,
 * and whole answers cost it more.
 */
const dependencies = { '@portkey-ai/gateway': '1.15.2' }
const overrides = { '@hono/node-server': '1.3.3' }

const directory = join(import.meta.dirname, '../../node_modules/.cache/bench/portkey')
const script = join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js')
const port = 38_787

/** Portkey's gateway, which the first run installs into a cache of its own: nothing of ours depends on it. */
export async function startPortkey(): Promise<ChildServer> {
  if (!existsSync(script)) {
    await mkdir(directory, { recursive: true })
    await writeFile(
      join(directory, 'package.json'),
      JSON.stringify({ private: true, dependencies, overrides }),
    )
    await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: directory,
    })
  }
  return startChild(script, {
    arguments: ['--headless', `--port=${port}`],
    environment: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    address: `http://127.0.0.1:${port}`,
  })
}

// npm start: installs if needed, builds the page and the agent if stale, serves.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import {
  ensureAgentBuilt,
  ensureInstalled,
  ensurePageBuilt,
  forwardSignals,
  isOldNode,
  node,
  root,
} from './prepare.mjs'

const main = join(root, 'packages/server/src/main.ts')

try {
  await ensureInstalled({ development: false })
  await ensurePageBuilt()
  await ensureAgentBuilt()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

// Workspaces get the npm this was started with, unless told otherwise: it may not be where they could find it.
process.env.ATELIER_NPM_DIR ??= npmDirectory()

if (!isOldNode) {
  const { enableCompileCache, flushCompileCache } = await import('node:module')
  // Compiling takes half of a start: what was compiled once is kept, for threads by this name too.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/atelier-compiled')
  enableCompileCache()
  await import(main)
  flushCompileCache()
} else {
  // The service needs the Node that was installed.
  const child = spawn(node, [main], { stdio: 'inherit' })
  forwardSignals(child)
  child.on('exit', (code) => process.exit(code ?? 1))
}

/** `…/npm` of `…/npm/bin/npm-cli.js`; nothing below `/usr`, which workspaces have anyway, or outside npm. */
function npmDirectory() {
  const cli = process.env.npm_execpath
  if (!cli?.endsWith('/npm/bin/npm-cli.js') || cli.startsWith('/usr/')) return ''
  return join(cli, '../..')
}

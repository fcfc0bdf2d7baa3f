// Runs on any Node from 18 up: it is what puts Node 24 in place.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const node = join(root, 'node_modules', '.bin', 'node')

const { node: nodeVersion } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies
/** The service needs this one; a machine may have an older one until the first install. */
export const isOldNode = Number(process.versions.node.split('.')[0]) < Number(nodeVersion.split('.')[0])

const installStamp = join(root, 'node_modules', '.atelier-install.json')
const pageStamp = join(root, 'packages', 'web', 'dist', '.sources')
const pageSources = ['packages/web', 'packages/client/src', 'packages/contract/src', 'package-lock.json']
const agentStamp = join(root, 'packages', 'agent', 'dist', '.sources')
const agentSources = ['packages/agent', 'packages/contract/src', 'package-lock.json']

/**
 * Installs the locked dependencies, unless those of this lockfile are there.
 * `development`: also what tests need; without it, only what runs the service.
 */
export async function ensureInstalled({ development }) {
  const lockfile = hashOf(['package-lock.json'])
  const installed = existsSync(installStamp) ? JSON.parse(readFileSync(installStamp, 'utf8')) : {}
  if (installed.lockfile === lockfile && (installed.development || !development)) return
  console.log('Installing dependencies…')
  // What somebody works with is not taken away.
  const withTools = development || existsSync(join(root, 'node_modules', 'vitest'))
  const omit = withTools ? [] : ['--omit=dev']
  const own = mkdtempSync(join(tmpdir(), 'atelier-node-'))
  try {
    if (isOldNode)
      await npm(process.execPath, ['install', '--prefix', own, '--no-save', `node@${nodeVersion}`])
    // It leaves out what the Node it runs on is too old for, so it runs on the one that everything else will run on.
    await npm(isOldNode ? join(own, 'node_modules/.bin/node') : process.execPath, ['ci', ...omit])
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  writeFileSync(installStamp, JSON.stringify({ lockfile, development: withTools }))
}

/** Runs npm, and the scripts of packages, on `node`. */
function npm(node, args) {
  const program = process.env.npm_execpath
  const [command, first] = program ? [node, [program]] : ['npm', []]
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  return run(command, [...first, ...args, ...quiet], root, { ...process.env, PATH })
}

/** Builds the page, unless it was built from these very sources. */
export async function ensurePageBuilt() {
  const sources = hashOf(pageSources)
  if (existsSync(pageStamp) && readFileSync(pageStamp, 'utf8') === sources) return
  console.log('Building the page…')
  await run(
    node,
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
    join(root, 'packages/web'),
  )
  writeFileSync(pageStamp, sources)
}

/**
 * Builds the program that runs inside workspaces, unless it was built from these very sources. A machine that cannot
 * (its kind of processor has no native parts) serves everything but running workspaces, which says why.
 */
export async function ensureAgentBuilt() {
  const sources = hashOf(agentSources)
  if (existsSync(agentStamp) && readFileSync(agentStamp, 'utf8') === sources) return
  try {
    await run(node, [join(root, 'packages/agent/build.mjs')])
    writeFileSync(agentStamp, sources)
  } catch (error) {
    console.error(`The workspace agent is not built: ${error.message}`)
  }
}

/** Runs a program to its end with our terminal; rejects if it fails. Signals reach it too. */
export function run(command, args, cwd = root, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: 'inherit' })
    const stopForwarding = forwardSignals(child)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      stopForwarding()
      if (code === 0) resolve()
      else reject(new Error(`${[command, ...args].join(' ')} ended with ${signal ?? code}`))
    })
  })
}

/** Ctrl-C and SIGTERM are the child's to handle; we end when it has. */
export function forwardSignals(child) {
  const forward = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward)
  return () => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward)
  }
}

function hashOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) addToHash(hash, path)
  return hash.digest('hex')
}

function addToHash(hash, path) {
  const absolute = join(root, path)
  if (!statSync(absolute).isDirectory()) {
    hash.update(`${path}\0`).update(readFileSync(absolute))
    return
  }
  for (const name of readdirSync(absolute).sort()) {
    if (name !== 'dist' && name !== 'node_modules') addToHash(hash, `${path}/${name}`)
  }
}

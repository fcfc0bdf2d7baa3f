// npm run install:code-server: puts code-server beside the repository's packages, for editor sessions.
//
// It goes to `.atelier-tools/code-server` (or $ATELIER_CODE_SERVER_DIR), outside `node_modules`, so that `npm ci` leaves
// it alone. Runs on any Node from 18 up; does nothing where this version is there already.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { node: nodeVersion } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies

/** The last release whose `engines` name Node 24; tried with the flags that the server starts it with. */
const codeServerVersion = '4.139.1'

const target = resolve(process.env.ATELIER_CODE_SERVER_DIR || join(root, '.atelier-tools', 'code-server'))
const stamp = JSON.stringify({
  codeServer: codeServerVersion,
  node: nodeVersion,
  platform: `${process.platform}-${process.arch}`,
})

/** What building its native parts needs: a check, and the Debian package that makes it pass. */
const needs = [
  { check: ['sh', ['-c', 'command -v make']], debian: 'make' },
  { check: ['sh', ['-c', 'command -v g++']], debian: 'g++' },
  { check: ['sh', ['-c', 'command -v python3']], debian: 'python3' },
  { check: ['sh', ['-c', 'command -v pkg-config']], debian: 'pkg-config' },
  { check: ['sh', ['-c', 'command -v krb5-config']], debian: 'libkrb5-dev' },
]

function main() {
  const stampFile = join(target, 'installed.json')
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
    console.log(`code-server ${codeServerVersion} is installed: ${target}`)
    return 0
  }
  if (process.platform !== 'linux') {
    console.error('code-server is installed on Linux only: it runs inside the sandbox of a workspace.')
    return 1
  }
  const missing = needs.filter(({ check: [command, args] }) => spawnSync(command, args).status !== 0)
  if (missing.length > 0) {
    const packages = missing.map(({ debian }) => debian).join(' ')
    console.error(`To build code-server, this machine lacks: ${packages}`)
    console.error(`  apt-get install -y --no-install-recommends ${packages}`)
    return 1
  }
  return install(stampFile)
}

function install(stampFile) {
  const started = Date.now()
  const draft = `${target}.partial`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  writeFileSync(join(draft, 'package.json'), JSON.stringify({ name: 'atelier-code-server', private: true }))
  // This package is the one release of Node with its headers, which the native parts are built against.
  const nodePackage = `node-linux-${process.arch}`
  const nodeDirectory = join(draft, 'node_modules', nodePackage)
  console.log(`Installing code-server ${codeServerVersion}: about two minutes, 600 MB…`)
  const done =
    npm(draft, ['install', '--save-exact', `${nodePackage}@${nodeVersion}`]) &&
    npm(draft, ['install', '--save-exact', `code-server@${codeServerVersion}`], {
      PATH: `${join(nodeDirectory, 'bin')}:${process.env.PATH}`,
      npm_config_nodedir: nodeDirectory,
    })
  if (!done || !existsSync(join(draft, 'node_modules/code-server/out/node/entry.js'))) {
    console.error(`code-server was not installed; what npm said is above. ${draft} can be removed.`)
    return 1
  }
  // It runs on the server's own Node.
  rmSync(nodeDirectory, { recursive: true, force: true })
  rmSync(target, { recursive: true, force: true })
  renameSync(draft, target)
  writeFileSync(stampFile, stamp)
  console.log(
    `code-server ${codeServerVersion} is installed: ${target} (${Math.round((Date.now() - started) / 1000)} s)`,
  )
  return 0
}

/** Without the settings that an outer `npm run` passes down: they are about this repository. */
function npm(directory, args, environment = {}) {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(package|lifecycle|config_local_prefix|config_prefix|config_user_agent|command|execpath|node_execpath)/.test(
          name,
        ),
    ),
  )
  const { status } = spawnSync(
    'npm',
    [...args, '--prefix', directory, '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: directory, env: { ...inherited, ...environment }, stdio: 'inherit' },
  )
  return status === 0
}

process.exitCode = main()

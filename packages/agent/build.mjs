// Bundles the agent into one file, with the two native parts beside it: dist/agent.mjs, pty.node, watcher.node.
// Does nothing when the inputs have not changed. Every file is put in place by a rename, so builds may run at once.

import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

const entries = { 'agent.mjs': 'src/main.ts', 'probe.mjs': 'src/probe.ts' }

/** `linux-x64-glibc` for the watcher, `linux-x64` for the terminal; musl has no build of the latter. */
function nativeParts() {
  const machine = `${process.platform}-${process.arch}`
  return {
    'pty.node': `@lydell/node-pty-${machine}/pty.node`,
    'watcher.node': `@parcel/watcher-${machine}${process.platform === 'linux' ? '-glibc' : ''}/watcher.node`,
  }
}

/** A machine without a native part has an agent without terminals or without a watcher, and the agent says so. */
function resolved(source) {
  try {
    return require.resolve(source)
  } catch (error) {
    console.warn(`the agent is built without ${source}: ${error.code}`)
    return undefined
  }
}

async function inputHash() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  const contract = join(here, '../contract/src')
  const files = [join(here, 'build.mjs'), join(here, 'package.json')]
  for (const entry of await readdir(join(here, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name))
  }
  for (const name of await readdir(contract)) if (name.startsWith('agent-')) files.push(join(contract, name))
  for (const file of files.sort()) hash.update(file.slice(here.length)).update(await readFile(file))
  return hash.digest('hex')
}

async function main() {
  const dist = join(here, 'dist')
  const stamp = join(dist, 'inputs.sha256')
  const inputs = await inputHash()
  if ((await readFile(stamp, 'utf8').catch(() => '')) === inputs) return
  const draft = join(here, 'dist', `draft-${process.pid}`)
  /** Readable to all, whatever the umask: workspaces run it as users of their own. */
  const put = async (name) => {
    await chmod(join(draft, name), 0o644)
    await rename(join(draft, name), join(dist, name))
  }
  await mkdir(draft, { recursive: true })
  await chmod(dist, 0o755)
  try {
    for (const [name, entry] of Object.entries(entries)) {
      await build({
        entryPoints: [join(here, entry)],
        outfile: join(draft, name),
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node24',
        minify: true,
        keepNames: true,
        legalComments: 'none',
        logLevel: 'error',
        // Bundled CommonJS asks for Node's own modules through `require`.
        banner: { js: "import{createRequire as c}from'node:module';const require=c(import.meta.url);" },
      })
      await put(name)
    }
    for (const [name, source] of Object.entries(nativeParts())) {
      const found = resolved(source)
      if (found === undefined) continue
      await copyFile(found, join(draft, name))
      await put(name)
    }
    await writeFile(join(draft, 'inputs'), inputs)
    await rename(join(draft, 'inputs'), stamp)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

await main()

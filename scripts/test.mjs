// npm test: every check and test that this machine can run; says what it skipped and why.
// Arguments go to Vitest: `npm test -- test/contract`.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureAgentBuilt, ensureInstalled, ensurePageBuilt, node, root, run } from './prepare.mjs'

const report = join(root, 'test-results', 'vitest.json')
const bin = (path) => [node, [join(root, 'node_modules', path)]]
const checks = [
  ['types', ...bin('typescript/bin/tsc'), ['-p', 'tsconfig.json']],
  ['types of the page', ...bin('typescript/bin/tsc'), ['-p', 'packages/web']],
  ['lint', ...bin('@biomejs/biome/bin/biome'), ['check', '--error-on-warnings']],
]

await ensureInstalled({ development: true })
await ensurePageBuilt()
await ensureAgentBuilt()
mkdirSync(join(root, 'test-results'), { recursive: true })
rmSync(report, { force: true })

let passed = 0
let failed = 0
const only = process.argv.slice(2)
for (const [name, command, first, rest] of only.length > 0 ? [] : checks) {
  const ok = await succeeds(command, [...first, ...rest])
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`)
  if (ok) passed += 1
  else failed += 1
}

const [command, first] = bin('vitest/vitest.mjs')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const testsOk = await succeeds(command, [...first, 'run', ...reporters, ...only])
const results = readReport()
passed += results.passed
failed += results.failed
if (!testsOk && results.failed === 0) failed += 1
if (results.skipped.length > 0) {
  console.log(`\nSkipped ${results.skipped.length}:`)
  for (const title of results.skipped) console.log(`  - ${title}`)
  console.log('Because this machine lacks:')
  await succeeds(node, [join(root, 'test/missing-here.ts')])
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function succeeds(program, args) {
  try {
    await run(program, args)
    return true
  } catch {
    return false
  }
}

function readReport() {
  try {
    const tests = JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(
      (file) => file.assertionResults,
    )
    const count = (status) => tests.filter((test) => test.status === status).length
    const skipped = tests
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName }) => fullName)
    return { passed: count('passed'), failed: count('failed'), skipped }
  } catch (error) {
    console.error(`Vitest left no report: ${error.message}`)
    return { passed: 0, failed: 1, skipped: [] }
  }
}

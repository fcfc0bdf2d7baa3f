import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Prints the numbered rules of docs/spec that no test title cites. `--strict` makes that a failure. */
const root = join(import.meta.dirname, '..')
const rules = new Map<string, string>()
for (const file of globSync('docs/spec/*.md', { cwd: root })) {
  const text = readFileSync(join(root, file), 'utf8')
  for (const match of text.matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)) rules.set(match[1] as string, basename(file))
}

const cited = new Set<string>()
const tests = ['packages/*/src/**/*.test.{ts,tsx}', 'test/**/*.ts'].flatMap((pattern) =>
  globSync(pattern, { cwd: root }),
)
for (const file of tests) {
  const text = readFileSync(join(root, file), 'utf8')
  for (const match of text.matchAll(/\[((?:[A-Z]+\d+(?:,\s*)?)+)\]/g)) {
    for (const rule of (match[1] as string).split(/,\s*/)) cited.add(rule)
  }
}

const uncovered = [...rules].filter(([rule]) => !cited.has(rule))
const unknown = [...cited].filter((rule) => !rules.has(rule) && /^[A-Z]{2,}\d+$/.test(rule))
for (const [rule, file] of uncovered) console.log(`no test cites ${rule} (docs/spec/${file})`)
for (const rule of unknown) console.log(`a test cites ${rule}, which docs/spec does not have`)
console.log(`${rules.size - uncovered.length} of ${rules.size} rules are cited by tests`)
if (process.argv.includes('--strict') && uncovered.length + unknown.length > 0) process.exitCode = 1

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { configureGuide } from '../../scripts/configure-guide.ts'

it('[DOC1] the configuration guide says what the schemas say', () => {
  const committed = readFileSync(join(import.meta.dirname, '../../docs/guides/configure.md'), 'utf8')
  expect(committed).toBe(configureGuide())
})

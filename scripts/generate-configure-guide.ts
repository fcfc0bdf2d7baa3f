import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configureGuide } from './configure-guide.ts'

writeFileSync(join(import.meta.dirname, '../docs/guides/configure.md'), configureGuide())

import { describe } from 'vitest'
import { type DatabaseEngine, databaseEngines } from './database.ts'

/**
 * Runs `suite` once for each engine, with a title that names it. Where an engine is missing the tests are listed as
 * skipped, with the reason in the title.
 */
export function describeOnEveryDatabase(title: string, suite: (engine: DatabaseEngine) => void): void {
  for (const { engine, unavailable } of databaseEngines()) {
    if (unavailable === undefined) describe(`${title} (${engine})`, () => suite(engine))
    else describe.skip(`${title} (${engine}; skipped: ${unavailable})`, () => suite(engine))
  }
}

import { expect, it } from 'vitest'
import { lightStem } from './light-stem.ts'
import { createThesaurus } from './thesaurus.ts'

it('[RAG9] words that stand for one another do so both ways, in any form, and only within their group', () => {
  const { synonymsOf } = createThesaurus()
  expect(synonymsOf(lightStem('retrying'))).toContain(lightStem('attempts'))
  expect(synonymsOf(lightStem('attempted'))).toContain(lightStem('retries'))
  expect(synonymsOf(lightStem('delays'))).toContain('backoff')
  expect(synonymsOf('zebra').size).toBe(0)
  expect(synonymsOf(lightStem('retry'))).not.toContain('backoff')
})

import { describe, expect, it } from 'vitest'
import { countTerms, identifierParts } from './code-tokenizer.ts'
import { lightStem } from './light-stem.ts'

describe('terms', () => {
  it.each([
    ['parseHTTPHeader2_fast', ['parse', 'http', 'header', '2', 'fast']],
    ['XMLHttpRequest', ['xml', 'http', 'request']],
    ['snake_case_name', ['snake', 'case', 'name']],
    ['$kRetry', ['k', 'retry']],
    ['utf8', ['utf', '8']],
    ['i18n', ['i18n']],
    ['ÉtatCivil', ['etat', 'civil']],
  ])('[RAG9] %s has parts', (identifier, parts) => {
    expect(identifierParts(identifier)).toEqual(parts)
  })

  it('[RAG9] an identifier is found by its parts in any form and as a whole', () => {
    const terms = countTerms('parseRetryAfter')
    for (const word of ['parse', 'parsing', 'parsed', 'parser', 'retries', 'retrying', 'after']) {
      expect(terms.has(lightStem(word))).toBe(true)
    }
    expect(terms.has('=parseretryafter')).toBe(true)
  })

  it.each([
    ['computes computed computing computation computer'],
    ['router routes routing'],
    ['create created creation creator creating'],
    ['validate validator validation valid'],
    ['resolve resolver resolution resolved'],
    ['handle handler handles handling'],
    ['delete deletion deleted'],
    ['query queries querying'],
  ])('[RAG9] %s share a stem', (words) => {
    expect(new Set(words.split(' ').map(lightStem)).size).toBe(1)
  })

  it.each([
    ['header', 'error'],
    ['format', 'form'],
    ['string', 'strict'],
    ['user', 'use'],
    ['class', 'clas'],
  ])('[RAG9] %s and %s stay apart', (one, other) => {
    expect(lightStem(one)).not.toBe(lightStem(other))
  })

  it('[RAG9] words that say nothing and encoded data are no terms; script without spaces is cut in pairs', () => {
    expect([...countTerms('where is the').keys()]).toEqual([])
    expect([...countTerms('a'.repeat(65)).keys()]).toEqual([])
    expect([...countTerms('検索文書').keys()]).toEqual(['検索', '索文', '文書'])
  })

  it('[RAG9] terms are counted', () => {
    expect(countTerms('retry(retry, retries)')).toEqual(new Map([['retri', 3]]))
  })
})

import { describe, expect, it } from 'vitest'
import { compiledPaths, kindFactor, sourceKind } from './source-kind.ts'

describe('what a file is', () => {
  it('[RAG20] a script beside its declaration is compiled where its source is there too', () => {
    const compiled = compiledPaths([
      'src/core/schemas.ts',
      'core/schemas.js',
      'core/schemas.d.ts',
      'core/schemas.cjs',
      'core/schemas.d.cts',
      'core/config.js',
    ])
    expect([...compiled].sort()).toEqual(['core/schemas.cjs', 'core/schemas.js'])
  })

  it('[RAG20] a script that was written by hand is not, with a declaration or without', () => {
    expect(compiledPaths(['fastify.js', 'fastify.d.ts', 'lib/reply.js', 'types/reply.d.ts']).size).toBe(0)
    expect(compiledPaths(['web/index.js', 'web/index.d.ts', 'server/index.ts']).size).toBe(0)
  })

  it('[RAG20] a question about code prefers sources, one about tests prefers tests', () => {
    const code = sourceKind('src/a.ts', 'typescript')
    const test = sourceKind('src/a.test.ts', 'typescript')
    expect(kindFactor('code', code)).toBeGreaterThan(kindFactor('code', test))
    expect(kindFactor('test', test)).toBeGreaterThan(kindFactor('test', code))
    expect(kindFactor('code', 'built')).toBeLessThan(kindFactor('code', test))
  })
})

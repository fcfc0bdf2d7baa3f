import { describe, expect, it } from 'vitest'
import { languageKind, languageOf } from './language.ts'

describe('language', () => {
  it.each([
    ['src/a.ts', '', 'typescript'],
    ['src/a.test.tsx', '', 'tsx'],
    ['A.PY', '', 'python'],
    ['Dockerfile.dev', '', 'dockerfile'],
    ['deploy/Makefile', '', 'makefile'],
    ['bin/tool', '#!/usr/bin/env -S node --flag\n', 'javascript'],
    ['bin/tool', '#!/usr/bin/python3.11\n', 'python'],
    ['bin/tool', '#!/bin/sh\n', 'bash'],
    ['.gitignore', '', 'ini'],
    ['notes', 'plain words', null],
    ['.hidden', '', null],
    ['a.unknown', '', null],
  ])('[RAG1] %s is told', (path, text, language) => {
    expect(languageOf(path, text)).toBe(language)
  })

  it('[RAG20] tells code, prose and data apart', () => {
    expect([languageKind('go'), languageKind('markdown'), languageKind('json'), languageKind(null)]).toEqual([
      'code',
      'prose',
      'data',
      'prose',
    ])
  })
})

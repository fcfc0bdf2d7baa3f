import type { Terminal } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import { exitWords, numberTerminals, terminalName } from './terminal-names.ts'

const terminal = { id: 'a', title: '', command: null, exit: null } as Terminal

describe('names of terminals', () => {
  it('[PAGE31] a number stays with its terminal, and that of a closed one is given again', () => {
    const two = numberTerminals({}, ['a', 'b'])
    expect(two).toEqual({ a: 1, b: 2 })
    expect(numberTerminals(two, ['b'])).toEqual({ b: 2 })
    expect(numberTerminals({ b: 2 }, ['b', 'c', 'd'])).toEqual({ b: 2, c: 1, d: 3 })
  })

  it('[PAGE31] a program gives the name, else the command, else the number', () => {
    expect(terminalName({ ...terminal, title: 'vim a.ts' }, { a: 1 })).toBe('vim a.ts')
    expect(terminalName({ ...terminal, command: ['/usr/bin/node', 'x'] }, { a: 1 })).toBe('node')
    expect(terminalName(terminal, { a: 3 })).toBe('Terminal 3')
  })

  it('[PAGE31] the end of a terminal is told in words', () => {
    const ended = { exitCode: null, signal: null, reason: null }
    expect(exitWords(terminal)).toBeNull()
    expect(exitWords({ exit: { ...ended, exitCode: 2 } })).toBe('Exited with code 2')
    expect(exitWords({ exit: { ...ended, signal: 'SIGKILL' } })).toBe('Ended by SIGKILL')
    expect(exitWords({ exit: { ...ended, reason: 'it was closed' } })).toBe('Ended: it was closed')
  })
})

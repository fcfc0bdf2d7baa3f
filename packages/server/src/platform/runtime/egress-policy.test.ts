import { describe, expect, it } from 'vitest'
import { createEgressPolicy, defaultEgressHosts } from './egress-policy.ts'

describe('the list of allowed hosts', () => {
  const decide = createEgressPolicy(['example.org', '*.example.net', 'git.example.com:8443'])

  it.each([
    ['example.org', 443],
    ['EXAMPLE.org.', 80],
    ['a.example.net', 443],
    ['a.b.example.net', 443],
    ['git.example.com', 8443],
  ])('[SBX15] lets %s:%i out', (host, port) => {
    expect(decide(host, port)).toEqual({ allowed: true, host: host.toLowerCase().replace(/\.$/, ''), port })
  })

  it.each([
    ['sub.example.org', 443],
    ['example.net', 443],
    ['notexample.net', 443],
    ['example.org.evil.com', 443],
    ['example.org', 22],
    ['example.org', 25],
    ['git.example.com', 443],
    ['localhost', 80],
    ['127.0.0.1', 80],
    ['169.254.169.254', 80],
    ['2130706433', 80],
    ['0x7f000001', 80],
    ['[::1]', 80],
    ['example.org@evil.com', 443],
    ['example.org\0.evil.com', 443],
    ['', 443],
    ['..', 443],
    ['example.org', Number.NaN],
  ])('[SBX15] keeps %j:%d in', (host, port) => {
    expect(decide(host, port).allowed).toBe(false)
  })

  it.each([
    '',
    '*',
    '*.',
    'http://example.org',
    'exa mple.org',
    '10.0.0.1',
    'example.org:',
    'example.org:x',
    'localhost',
  ])('[SBX15] %j is no entry', (entry) => {
    expect(() => createEgressPolicy([entry])).toThrow(TypeError)
  })

  it('[SBX15] has a default that is one', () => {
    const byDefault = createEgressPolicy(defaultEgressHosts)
    for (const host of ['registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org', 'github.com']) {
      expect(byDefault(host, 443).allowed).toBe(true)
    }
  })
})

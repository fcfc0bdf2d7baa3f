import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { createOriginPolicy } from './origin.ts'

const loopback = createOriginPolicy({ baseUrl: undefined, host: '127.0.0.1' })
const published = createOriginPolicy({ baseUrl: 'https://code.example.com', host: '0.0.0.0' })

function origin(policy: typeof loopback, value: string | undefined, host: string, required = true): string {
  try {
    policy.checkOrigin({ host, ...(value === undefined ? {} : { origin: value }) }, { required })
    return 'allowed'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

describe('origin policy', () => {
  it.each([
    [loopback, 'http://localhost:3000', 'localhost:3000', 'allowed'],
    [loopback, 'http://127.0.0.1:3000', '127.0.0.1:3000', 'allowed'],
    [loopback, 'http://localhost:5173', 'localhost:3000', 'FORBIDDEN'],
    [loopback, 'https://evil.example', 'localhost:3000', 'FORBIDDEN'],
    [loopback, 'null', 'localhost:3000', 'FORBIDDEN'],
    [loopback, '', 'localhost:3000', 'FORBIDDEN'],
    [loopback, undefined, 'localhost:3000', 'FORBIDDEN'],
    [published, 'https://code.example.com', 'code.example.com', 'allowed'],
    [published, 'http://code.example.com', 'code.example.com', 'FORBIDDEN'],
    [published, 'https://code.example.com.evil.example', 'code.example.com', 'FORBIDDEN'],
    [published, 'https://evil.example', 'evil.example', 'FORBIDDEN'],
  ])('[HTTP10] %#: origin %s at host %s', (policy, value, host, expected) => {
    expect(origin(policy, value, host)).toBe(expected)
  })

  it('[HTTP10] a program without an Origin is not a page', () => {
    expect(origin(loopback, undefined, 'localhost:3000', false)).toBe('allowed')
  })

  it('[HTTP10] a rebound name is refused on a loopback listener', () => {
    expect(() => loopback.checkHost('rebound.example:3000')).toThrow(AppError)
    expect(() => loopback.checkHost('localhost:3000')).not.toThrow()
    expect(() => loopback.checkHost('[::1]:3000')).not.toThrow()
    expect(() => published.checkHost('other.example')).toThrow(AppError)
    expect(() => published.checkHost('code.example.com')).not.toThrow()
  })
})

import { expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { ConnectionError, isUniqueViolation, toDatabaseError } from './database-errors.ts'

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code })

it.each([
  withCode('57P01'),
  withCode('57P03'),
  withCode('08006'),
  withCode('53300'),
  withCode('53100'),
  withCode('ECONNREFUSED'),
  withCode('ECONNRESET'),
  new ConnectionError('x'),
  new Error('Connection terminated unexpectedly'),
  new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]),
])('[DB29] a database that is not there is SERVICE_UNAVAILABLE: %s', (error) => {
  expect(toDatabaseError(error)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause: error })
})

it('[DB8] a statement that was stopped is TIMEOUT', () => {
  expect(toDatabaseError(withCode('57014'))).toMatchObject({ code: 'TIMEOUT' })
})

it.each([withCode('23505'), withCode('42P01'), new TypeError('x'), new AppError('CONFLICT', 'x'), 'text'])(
  '[DB29] any other error is left alone: %s',
  (error) => {
    expect(toDatabaseError(error)).toBe(error)
  },
)

it('[DB29] a unique violation is recognised by its constraint', () => {
  const error = Object.assign(withCode('23505'), { constraint: 'users_email' })
  expect(isUniqueViolation(error)).toBe(true)
  expect(isUniqueViolation(error, 'users_email')).toBe(true)
  expect(isUniqueViolation(error, 'users_name')).toBe(false)
  expect(isUniqueViolation(new Error('duplicate'))).toBe(false)
})

import { expect, it } from 'vitest'
import { waitInWords } from './wait-in-words.ts'

it.each([
  [1, 'in 1 second'],
  [90, 'in 90 seconds'],
  [120, 'in 2 minutes'],
  [7_199, 'in 120 minutes'],
  [7_765, 'in 2 hours'],
  [100_000, 'in 28 hours'],
  [2_000_000, 'in 23 days'],
])('[LED5] a wait of %i seconds is said for people: %s', (seconds, words) => {
  expect(waitInWords(seconds)).toBe(words)
})

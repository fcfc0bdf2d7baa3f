import type { ValidationIssue } from '@atelier/contract'
import type { z } from 'zod'
import { validationError } from '../../base/app-error.ts'

/** Most issues that one answer lists; a hostile body could otherwise make the answer larger than itself. */
const maxIssues = 50

/** Parses what a caller sent. Throws VALIDATION_ERROR that names every faulty parameter. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw validationError(result.error.issues.flatMap(toIssues).slice(0, maxIssues))
}

function toIssues(issue: z.core.$ZodIssue): ValidationIssue[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, key].join('.').slice(0, 200),
      issue: 'is not a known property',
    }))
  }
  return [{ field: path.join('.') || 'body', issue: issue.message }]
}

import { invalidField } from '../../base/app-error.ts'

/** The revisions of an `If-None-Match` header; a weak mark says nothing different about a content's digest. */
export function knownRevisions(header: string | undefined): string[] {
  return [...(header ?? '').matchAll(/"([0-9a-f]{64})"/g)].map(([, revision]) => revision as string)
}

/**
 * The revision that a change is based on, from `If-Match` and from the body, which must not contradict each other.
 * `undefined` where neither names one. Throws VALIDATION_ERROR.
 */
export function baseRevision<Base extends string | null>(
  header: string | undefined,
  given: Base | undefined,
): Base | string | undefined {
  if (header === undefined) return given
  // `*` would overwrite whatever is there, which is what a base is to prevent.
  const [, revision] = /^\s*"([0-9a-f]{64})"\s*$/.exec(header) ?? []
  if (revision === undefined) throw invalidField('if-match', 'must be one revision in quotation marks')
  if (given !== undefined && given !== revision) {
    throw invalidField('baseRevision', 'is another revision than If-Match names')
  }
  return revision
}

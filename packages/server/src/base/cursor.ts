import { invalidField } from './app-error.ts'

/** The opaque cursor of a list that is ordered by id: the last id of the page. */
export function encodeCursor(id: string): string {
  return Buffer.from(id, 'utf8').toString('base64url')
}

/** The id behind a cursor that `encodeCursor` made for ids with `prefix`. Throws VALIDATION_ERROR for anything else. */
export function decodeCursor(cursor: string | undefined, prefix: string): string | undefined {
  if (cursor === undefined) return undefined
  const id = Buffer.from(cursor, 'base64url').toString('utf8')
  if (encodeCursor(id) === cursor && /^[A-Za-z]+_[0-9A-Z]{26}$/.test(id) && id.startsWith(`${prefix}_`))
    return id
  throw invalidField('cursor', 'is not a cursor of this list')
}

/** Cuts the row beyond the limit, which a query asks for to learn whether there is another page. */
export function toPage<Item extends { id: string }>(
  rows: readonly Item[],
  limit: number,
): { items: Item[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? encodeCursor(last.id) : null }
}

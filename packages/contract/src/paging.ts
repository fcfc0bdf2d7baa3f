import { z } from 'zod'

/** Every list is paged by an opaque cursor. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
})

export function page<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() })
}

export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

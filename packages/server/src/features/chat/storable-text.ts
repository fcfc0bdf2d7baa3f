/** Text that every store takes: PostgreSQL refuses NUL and half of a surrogate pair. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** The same for every text and every key in a value. */
export function storableJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value, (_, part: unknown) => storablePart(part))
}

function storablePart(part: unknown): unknown {
  if (typeof part === 'string') return storableText(part)
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [storableText(key), value]))
}

import pg from 'pg'

/** Object ids of `pg_type`, fixed by PostgreSQL (`src/include/catalog/pg_type.dat`). */
const typeId = { int8: 20, int8Array: 1016, date: 1082, dateArray: 1182, timestamp: 1114 } as const

// The driver's list of ids has no arrays, its parsers do: 1009 is `text[]`.
const parseTextArray = pg.types.getTypeParser(1009 as never) as (text: string) => string[]

const parsers = new Map<number, (text: string) => unknown>([
  [typeId.int8, parseInteger],
  [typeId.int8Array, (text) => parseTextArray(text).map(parseInteger)],
  [typeId.date, (text) => text],
  [typeId.dateArray, (text) => parseTextArray(text)],
  [typeId.timestamp, (text) => new Date(`${text.replace(' ', 'T')}Z`)],
])

/**
 * How column values become JavaScript values, on both engines. Differs from the driver's own rules where those depend
 * on the server's time zone (`timestamp`, `date`) or turn every count into a string (`int8`).
 */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    parsers.get(id) ?? pg.types.getTypeParser(id, format as 'text')) as typeof pg.types.getTypeParser,
}

/** A number where that is exact, else a bigint: never a silently wrong value. */
function parseInteger(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}

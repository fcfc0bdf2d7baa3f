/**
 * A process of its own that uses a database, for tests that kill it. Arguments: what to do, and the options of
 * `openDatabase` as JSON. Tells each step on a line of standard output.
 */
import { openDatabase } from '@atelier/server/database'
import { sql } from 'kysely'

const [task, options] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)

try {
  await using database = await openDatabase({
    ...JSON.parse(options ?? '{}'),
    logger: {
      info: (fields: { migration?: string }, message: string) => say(`${message} ${fields.migration ?? ''}`),
      warn: () => {},
      error: () => {},
    },
  })
  say('opened')
  if (task === 'hold') await new Promise(() => setInterval(() => {}, 1_000))
  if (task === 'insert') {
    await sql`create table if not exists acknowledged (id int primary key, filler text)`.execute(
      database.kysely,
    )
    const { rows } = await sql<{
      next: number
    }>`select coalesce(max(id), 0) + 1 as next from acknowledged`.execute(database.kysely)
    for (let id = rows[0]?.next ?? 1; ; id += 1) {
      await sql`insert into acknowledged values (${id}, repeat('x', 500))`.execute(database.kysely)
      say(`inserted ${id}`)
    }
  }
} catch (error) {
  say(`failed: ${(error as Error).message}`)
  process.exitCode = 1
}

import type { RunState } from '@atelier/contract'
import { sql } from 'kysely'
import type { Database } from '../../platform/db/database.ts'
import type { RunFrame } from './run-feed.ts'

/** A run as it is written for the first time. */
export interface NewRun {
  id: string
  userId: string
  chatId: string | null
  workspaceId: string | null
}

/** Events of one run, in order, with the number of the first. */
export interface EventGroup {
  runId: string
  first: number
  /** each a JSON text */
  events: readonly string[]
}

/** Where a run stands after the events of the same write. */
export interface RunProgress {
  runId: string
  state: RunState
  lastEvent: number
}

export interface StoredRun {
  id: string
  userId: string
  chatId: string | null
  workspaceId: string | null
  state: RunState
  lastEvent: number
}

/** How long a run counts as alive after its last sign of life. */
export const leaseSeconds = 30

/** How long events can be read again after the end; the answer itself stays in its chat. */
const eventsKeptHours = 24
const runsKeptDays = 30

export type RunStore = ReturnType<typeof createRunStore>

/** The only SQL about runs. Times are the database's, so that nodes need not agree about theirs. */
export function createRunStore({ database }: { database: Database }) {
  const { kysely } = database

  return {
    /** One statement, whatever it holds: all of it is stored, or nothing. Gives the runs that are asked to stop. */
    async write(batch: {
      runs: readonly NewRun[]
      groups: readonly EventGroup[]
      progress: readonly RunProgress[]
    }): Promise<string[]> {
      const { runs, groups, progress } = batch
      const states = new Map(progress.map((one) => [one.runId, one]))
      const known = new Set(runs.map(({ id }) => id))
      const updates = progress.filter(({ runId }) => !known.has(runId))
      const added = runs.map((run) => ({
        ...run,
        ...(states.get(run.id) ?? { state: 'running', lastEvent: 0 }),
      }))
      const { rows } = await sql<{ id: string }>`
        with added as (
          insert into runs (id, user_id, chat_id, workspace_id, state, last_event, lease_until, finished_at)
          select id, user_id, chat_id, workspace_id, state, last_event, ${leaseOf('state')}, ${endOf('state')}
          from unnest(
            ${texts(added.map(({ id }) => id))}, ${texts(added.map(({ userId }) => userId))},
            ${texts(added.map(({ chatId }) => chatId))}, ${texts(added.map(({ workspaceId }) => workspaceId))},
            ${texts(added.map(({ state }) => state))}, ${integers(added.map(({ lastEvent }) => lastEvent))}
          ) as t (id, user_id, chat_id, workspace_id, state, last_event)
        ), stored as (
          insert into run_events (run_id, first_event, last_event, events)
          select * from unnest(
            ${texts(groups.map(({ runId }) => runId))}, ${integers(groups.map(({ first }) => first))},
            ${integers(groups.map(({ first, events }) => first + events.length - 1))},
            ${texts(groups.map(({ events }) => `[${events.join(',')}]`))}
          )
        )
        update runs set state = t.state, last_event = t.last_event,
          lease_until = ${leaseOf('t.state')}, finished_at = ${endOf('t.state')}
        from unnest(
          ${texts(updates.map(({ runId }) => runId))}, ${texts(updates.map(({ state }) => state))},
          ${integers(updates.map(({ lastEvent }) => lastEvent))}
        ) as t (id, state, last_event)
        where runs.id = t.id and runs.state = 'running'
        returning case when runs.stop_requested then runs.id end as id`.execute(kysely)
      return rows.map(({ id }) => id).filter((id) => id !== null)
    },

    async find(userId: string, runId: string): Promise<StoredRun | null> {
      const row = await kysely
        .selectFrom('runs')
        .select(['id', 'user_id', 'chat_id', 'workspace_id', 'state', 'last_event'])
        .where('id', '=', runId)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      return row === undefined ? null : toRun(row)
    },

    /** The next events, in order, a bounded number of them; may begin before `after`. */
    async eventsAfter(runId: string, after: number): Promise<RunFrame[]> {
      const rows = await kysely
        .selectFrom('run_events')
        .select(['first_event', 'events'])
        .where('run_id', '=', runId)
        .where('last_event', '>', after)
        .orderBy('last_event')
        .limit(groupsAtOnce)
        .execute()
      return rows.flatMap(({ first_event, events }) =>
        (JSON.parse(events) as unknown[]).map((event, index) => ({
          id: first_event + index,
          json: JSON.stringify(event),
        })),
      )
    },

    async requestStop(userId: string, runId: string): Promise<void> {
      await kysely
        .updateTable('runs')
        .set({ stop_requested: true })
        .where('id', '=', runId)
        .where('user_id', '=', userId)
        .where('state', '=', 'running')
        .execute()
    },

    /** The answers in the making of some conversations. */
    async runningIn(userId: string, chatIds: readonly string[]): Promise<Map<string, string>> {
      if (chatIds.length === 0) return new Map()
      const rows = await kysely
        .selectFrom('runs')
        .select(['id', 'chat_id'])
        .where('user_id', '=', userId)
        .where('chat_id', 'in', chatIds)
        .where('state', '=', 'running')
        .execute()
      return new Map(rows.map(({ id, chat_id }) => [chat_id ?? '', id]))
    },

    /** Takes runs whose node has given no sign of life any more, or every run; each is given to one caller only. */
    async takeLost({ everyRun }: { everyRun: boolean }): Promise<StoredRun[]> {
      const rows = await kysely
        .updateTable('runs')
        .set({ lease_until: leaseEnd })
        .where('state', '=', 'running')
        .$if(!everyRun, (query) => query.where('lease_until', '<', sql<Date>`now()`))
        .returning(['id', 'user_id', 'chat_id', 'workspace_id', 'state', 'last_event'])
        .execute()
      return rows.map(toRun)
    },

    async deleteOld(): Promise<void> {
      await sql`delete from run_events using runs where runs.id = run_events.run_id
        and runs.finished_at < now() - ${eventsKeptHours} * interval '1 hour'`.execute(kysely)
      await sql`delete from runs where finished_at < now() - ${runsKeptDays} * interval '1 day'`.execute(
        kysely,
      )
    },
  }
}

/** Groups read in one go: some hundred events. */
const groupsAtOnce = 50

const leaseEnd = sql<Date>`now() + ${sql.lit(leaseSeconds)} * interval '1 second'`

function leaseOf(column: string) {
  return sql`case when ${sql.ref(column)} = 'running' then ${leaseEnd} end`
}

function endOf(column: string) {
  return sql`case when ${sql.ref(column)} <> 'running' then now() end`
}

function texts(values: readonly (string | null)[]) {
  return sql`${values}::text[]`
}

function integers(values: readonly number[]) {
  return sql`${values}::int[]`
}

function toRun(row: {
  id: string
  user_id: string
  chat_id: string | null
  workspace_id: string | null
  state: RunState
  last_event: number
}): StoredRun {
  const { id, user_id: userId, chat_id: chatId, workspace_id: workspaceId, state } = row
  return { id, userId, chatId, workspaceId, state, lastEvent: row.last_event }
}

import type { Budget, UsageTotals } from '@atelier/contract'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { newId } from '../../base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import type { BudgetTable } from '../../platform/db/tables.ts'
import type { CallOwner, LedgerAccess } from './ledger.ts'
import type { GroupedTotals, LedgerReports } from './ledger-reports.ts'

/** After that long a call cannot be under way any more: its process has died. */
const reservationMinutes = 60

/** The only SQL about usage and budgets. Money is numeric: nothing is rounded. */
export function createLedgerStore({ database }: { database: Database }): LedgerAccess & LedgerReports {
  const { kysely } = database

  async function totals<Group extends string | null>(
    where: RawBuilder<boolean>,
    group: RawBuilder<Group>,
    order: RawBuilder<unknown>,
  ): Promise<GroupedTotals<Group>[]> {
    const { rows } = await sql<GroupedTotals<Group>>`
      select ${group} as "group", count(*) as calls,
        coalesce(sum(input_tokens), 0)::bigint as "inputTokens",
        coalesce(sum(cached_input_tokens), 0)::bigint as "cachedInputTokens",
        coalesce(sum(cache_write_tokens), 0)::bigint as "cacheWriteTokens",
        coalesce(sum(output_tokens), 0)::bigint as "outputTokens",
        coalesce(sum(reasoning_tokens), 0)::bigint as "reasoningTokens",
        trim_scale(coalesce(sum(cost), 0))::text as cost,
        count(*) filter (where cost is null) as unpriced,
        count(*) filter (where estimated) as estimated
      from usage_entries where ${where} group by 1 order by ${order}`.execute(kysely)
    return rows
  }

  async function total(where: RawBuilder<boolean>): Promise<UsageTotals | undefined> {
    const [row] = await totals(where, sql<string>`''`, sql`1`)
    if (row === undefined) return undefined
    const { group: _, ...rest } = row
    return rest
  }

  return {
    // Locks the budgets in one order, so that parallel calls take turns and never overspend.
    async reserve(callId, owner, amounts) {
      const { rows } = await sql<{
        count: number
        amount: string | null
        granted: boolean
        retry: number | null
      }>`
        with applicable as materialized (
          select id, cap, reserved, budget_period_start(period, now()) as current,
            case when period_start = budget_period_start(period, now()) then spent else 0 end as spent,
            case period when 'day' then budget_period_start(period, now()) + interval '1 day'
              when 'month' then budget_period_start(period, now()) + interval '1 month' end as until
          from budgets where ${binds(owner)} order by id for update
        ), decision as (
          select count(*) as count, least(${amounts.most}::numeric, min(cap - spent - reserved)) as amount,
            max(until) filter (where cap - spent - reserved < ${amounts.least}::numeric) as until
          from applicable
        ), changed as (
          update budgets set spent = applicable.spent, period_start = applicable.current,
            reserved = applicable.reserved + decision.amount
          from applicable, decision
          where budgets.id = applicable.id and decision.amount >= ${amounts.least}::numeric
          returning budgets.id, decision.amount
        ), kept as (
          insert into budget_reservations (call_id, budget_id, amount, expires_at)
          select ${callId}, id, amount, now() + ${reservationMinutes} * interval '1 minute' from changed
        )
        select decision.count, decision.amount::text, exists (select from changed) as granted,
          ceil(extract(epoch from decision.until - now()))::int as retry
        from decision`.execute(kysely)
      const [row] = rows
      if (row === undefined || row.count === 0) return { kind: 'unbound' }
      if (row.granted) return { kind: 'granted', amount: row.amount ?? '0' }
      return { kind: 'refused', retryAfterSeconds: row.retry }
    },

    async release(callIds) {
      await sql`
        with released as (
          delete from budget_reservations where call_id = any(${callIds}::text[]) returning budget_id, amount
        )
        update budgets set reserved = reserved - sums.amount
        from (select budget_id, sum(amount) as amount from released group by 1) as sums
        where budgets.id = sums.budget_id`.execute(kysely)
    },

    async releaseExpired() {
      await sql`
        with released as (
          delete from budget_reservations where expires_at < now() returning budget_id, amount
        )
        update budgets set reserved = reserved - sums.amount
        from (select budget_id, sum(amount) as amount from released group by 1) as sums
        where budgets.id = sums.budget_id`.execute(kysely)
    },

    async settle(entries) {
      await sql`
        with entries as materialized (
          select * from unnest(
            ${texts(entries.map((one) => one.callId))}, ${texts(entries.map((one) => one.runId))},
            ${texts(entries.map((one) => one.userId))}, ${texts(entries.map((one) => one.workspaceId))},
            ${texts(entries.map((one) => one.apiKeyId))}, ${texts(entries.map((one) => one.model))},
            ${texts(entries.map((one) => one.provider))}, ${texts(entries.map((one) => one.finishReason))},
            ${integers(entries.map((one) => one.usage.inputTokens))},
            ${integers(entries.map((one) => one.usage.cachedInputTokens))},
            ${integers(entries.map((one) => one.usage.cacheWriteTokens))},
            ${integers(entries.map((one) => one.usage.outputTokens))},
            ${integers(entries.map((one) => one.usage.reasoningTokens))},
            ${entries.map((one) => one.usage.estimated)}::boolean[],
            ${texts(entries.map((one) => one.cost))}::numeric[], ${texts(entries.map((one) => one.charge))}::numeric[]
          ) as t (call_id, run_id, user_id, workspace_id, api_key_id, model, provider, finish_reason, input_tokens,
            cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated, cost, charge)
        ), written as (
          insert into usage_entries (run_id, user_id, workspace_id, api_key_id, model, provider, finish_reason,
            input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated, cost)
          select run_id, user_id, workspace_id, api_key_id, model, provider, finish_reason, input_tokens,
            cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated, cost from entries
        ), released as (
          delete from budget_reservations where call_id in (select call_id from entries)
          returning call_id, budget_id, amount
        ), locked as materialized (
          select id, subject, subject_id, period from budgets
          where subject = 'everyone'
            or (subject = 'user' and subject_id in (select user_id from entries))
            or (subject = 'workspace' and subject_id in (select workspace_id from entries))
            or (subject = 'api-key' and subject_id in (select api_key_id from entries))
          order by id for update
        ), sums as (
          select locked.id, locked.period, sum(charge) as charge, sum(coalesce(released.amount, 0)) as released
          from locked
          join entries on locked.subject = 'everyone'
            or (locked.subject = 'user' and locked.subject_id = entries.user_id)
            or (locked.subject = 'workspace' and locked.subject_id = entries.workspace_id)
            or (locked.subject = 'api-key' and locked.subject_id = entries.api_key_id)
          left join released on released.call_id = entries.call_id and released.budget_id = locked.id
          group by 1, 2
        )
        update budgets set
          spent = case when period_start = budget_period_start(sums.period, now()) then spent else 0 end + sums.charge,
          period_start = budget_period_start(sums.period, now()), reserved = reserved - sums.released
        from sums where budgets.id = sums.id`.execute(kysely)
    },

    async anyBudget() {
      return (await kysely.selectFrom('budgets').select('id').limit(1).executeTakeFirst()) !== undefined
    },

    async budgets(owner) {
      let query = kysely.selectFrom('budgets').selectAll().select(spentNow)
      if (owner !== undefined) query = query.where(binds(owner))
      return (await query.orderBy('id').execute()).map(toBudget)
    },

    async setBudget({ subject, subjectId, period, cap }) {
      const row = await kysely
        .insertInto('budgets')
        .values({
          id: newId('budget'),
          subject,
          subject_id: subjectId ?? '',
          period,
          cap,
          period_start: sql<Date>`budget_period_start(${period}, now())`,
        })
        .onConflict((conflict) => conflict.columns(['subject', 'subject_id', 'period']).doUpdateSet({ cap }))
        .returningAll()
        .returning(spentNow)
        .executeTakeFirstOrThrow()
      return toBudget(row)
    },

    async deleteBudget(id) {
      const row = await kysely.deleteFrom('budgets').where('id', '=', id).returning('id').executeTakeFirst()
      return row !== undefined
    },

    async report({ from, to }, userId) {
      const where = sql<boolean>`created_at >= ${from}::date::timestamp at time zone 'UTC'
        and created_at < (${to}::date + 1)::timestamp at time zone 'UTC'
        and (${userId}::text is null or user_id = ${userId})`
      const dearest = sql`coalesce(sum(cost), 0) desc, 1`
      const day = sql<string>`(created_at at time zone 'UTC')::date::text`
      return {
        totals: await total(where),
        byDay: await totals(where, day, sql`1`),
        byModel: await totals(where, sql<string>`model`, dearest),
        byWorkspace: await totals(where, sql<string | null>`workspace_id`, dearest),
        byUser: await totals(where, sql<string>`user_id`, dearest),
      }
    },
  }
}

const spentNow =
  sql<string>`case when period_start = budget_period_start(period, now()) then spent else 0 end`.as(
    'spent_now',
  )

function binds({ userId, workspaceId, apiKeyId }: CallOwner) {
  return sql<boolean>`(subject = 'everyone' or (subject = 'user' and subject_id = ${userId})
    or (subject = 'workspace' and subject_id = ${workspaceId}::text)
    or (subject = 'api-key' and subject_id = ${apiKeyId}::text))`
}

function texts(values: readonly (string | null)[]) {
  return sql`${values}::text[]`
}

function integers(values: readonly number[]) {
  return sql`${values}::bigint[]`
}

function toBudget(row: Selectable<BudgetTable> & { spent_now: string }): Budget {
  const { id, subject, period } = row
  return {
    id,
    subject,
    subjectId: row.subject_id === '' ? null : row.subject_id,
    period,
    cap: plain(row.cap),
    spent: plain(row.spent_now),
    reserved: plain(row.reserved),
  }
}

/** numeric keeps trailing zeros: `0.50` -> `0.5`. */
function plain(amount: string): string {
  return amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}

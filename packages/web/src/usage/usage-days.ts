import type { UsageTotals } from '@atelier/contract'
import { sumDecimals } from '../lib/decimal.ts'

/** The ranges that can be chosen, in days; the ledger gives at most 400. */
export const ranges = [7, 30, 90, 365] as const
export type Range = (typeof ranges)[number]

export const usualRange: Range = 30

/** Reads `?days=`; anything else is the usual range. */
export function rangeOf(search: string): Range {
  const days = Number(new URLSearchParams(search).get('days'))
  return ranges.find((range) => range === days) ?? usualRange
}

const dayMs = 86_400_000

/** The first day of a range that ends today; days are of UTC, as the ledger counts them. */
export function firstDayOf(range: Range, now: number): string {
  return dayOf(now - (range - 1) * dayMs)
}

export type DayTotals = UsageTotals & { day: string }

/** Every day of a period, oldest first; one without calls has nothing but zeros. */
export function everyDay(period: { from: string; to: string }, days: readonly DayTotals[]): DayTotals[] {
  const known = new Map(days.map((totals) => [totals.day, totals]))
  const count = Math.round((Date.parse(period.to) - Date.parse(period.from)) / dayMs) + 1
  return Array.from({ length: Math.max(0, count) }, (_none, index) => {
    const day = dayOf(Date.parse(period.from) + index * dayMs)
    return known.get(day) ?? { ...nothing, day }
  })
}

const nothing: UsageTotals = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: '0',
  unpriced: 0,
  estimated: 0,
}

/** More bars than this on a plot cannot be told apart. */
const mostBars = 100
const weekDays = 7

/** What a plot draws: days, or weeks where there are too many of them. A bar is named by its first day. */
export interface Bars {
  unit: 'day' | 'week'
  totals: readonly DayTotals[]
}

export function barsOf(days: readonly DayTotals[]): Bars {
  if (days.length <= mostBars) return { unit: 'day', totals: days }
  // The last week is whole; the first may be short.
  const short = days.length % weekDays
  const starts = short === 0 ? [] : [0]
  for (let start = short; start < days.length; start += weekDays) starts.push(start)
  const weeks = starts.map((start, index) => days.slice(start, starts[index + 1] ?? days.length))
  return { unit: 'week', totals: weeks.map(sumOf) }
}

function sumOf(days: readonly DayTotals[]): DayTotals {
  const sum = (pick: (totals: UsageTotals) => number) => days.reduce((total, day) => total + pick(day), 0)
  return {
    day: days[0]?.day ?? '',
    calls: sum(({ calls }) => calls),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedInputTokens: sum(({ cachedInputTokens }) => cachedInputTokens),
    cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    cost: sumDecimals(days.map(({ cost }) => cost)),
    unpriced: sum(({ unpriced }) => unpriced),
    estimated: sum(({ estimated }) => estimated),
  }
}

/** Tokens as people pay for them: what went in, what of it a cache served, what came out. */
export function tokensOf(totals: UsageTotals): { input: number; cached: number; output: number } {
  return {
    input: totals.inputTokens + totals.cacheWriteTokens,
    cached: totals.cachedInputTokens,
    output: totals.outputTokens + totals.reasoningTokens,
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

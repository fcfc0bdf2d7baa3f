import { round } from '../harness.ts'
import type { LoadResult } from './load.ts'

export interface Target {
  goal: number
  measured: number
  met: boolean
}

type Results = Record<string, Record<string, LoadResult>>

/** What the gateway should do on two cores, and what it did in these results. */
export function targetsOf(results: Results, peakMiB: number): Record<string, Target> {
  const at = (scenario: string, who: string) => results[scenario]?.[who]
  const busy = 'json-200, 10 connections'
  const paced = at('stream-64-20, 200 connections', 'atelier')
  const ours = at(busy, 'atelier')
  const requests = ours?.requestsPerSecond ?? 0
  const added = (ours?.p99 ?? Number.NaN) - (at(busy, 'mock')?.p99 ?? Number.NaN)
  return {
    'requests, times Portkey’s': atLeast(
      2.5,
      requests / (at(busy, 'portkey')?.requestsPerSecond ?? Number.NaN),
    ),
    'requests a second': atLeast(2_500, requests),
    'added p99, ms': atMost(5, added),
    'paced streams at once that failed': atMost(0, paced?.failed ?? Number.NaN),
    'peak memory, MiB': atMost(250, peakMiB),
  }
}

function atLeast(goal: number, measured: number): Target {
  return { goal, measured: round(measured), met: measured >= goal }
}

function atMost(goal: number, measured: number): Target {
  return { goal, measured: round(measured), met: measured <= goal }
}

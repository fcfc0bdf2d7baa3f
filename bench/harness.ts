import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'

/** What figures of this run depend on; no path and no name of the machine. */
export interface Machine {
  cpu: string
  cores: number
  memoryGiB: number
  node: string
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  }
}

/** The value below which the share `fraction` (0 to 1) of `values` lies; nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** p50, p95 and p99 in the unit of `values`, to three decimals. */
export function summarise(values: readonly number[]): {
  p50: number
  p95: number
  p99: number
  samples: number
} {
  const at = (fraction: number) => round(percentile(values, fraction))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), samples: values.length }
}

export function round(value: number, decimals = 3): number {
  return Math.round(value * 10 ** decimals) / 10 ** decimals
}

/** Runs each contestant once a round, in an order that is reversed every other round, so that drift hits all alike. */
export async function interleave<Result>(
  rounds: number,
  contestants: Record<string, () => Promise<Result>>,
): Promise<Record<string, Result[]>> {
  const names = Object.keys(contestants)
  const results: Record<string, Result[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const contestant = contestants[name]
      if (contestant) results[name]?.push(await contestant())
    }
  }
  return results
}

/** Writes `bench/results/<name>.json` and prints it. */
export function writeResults(name: string, results: unknown): void {
  const directory = join(import.meta.dirname, 'results')
  mkdirSync(directory, { recursive: true })
  const text = JSON.stringify(
    { scenario: name, date: new Date().toISOString().slice(0, 10), machine: describeMachine(), results },
    null,
    2,
  )
  writeFileSync(join(directory, `${name}.json`), `${text}\n`)
  process.stdout.write(`${text}\n`)
}

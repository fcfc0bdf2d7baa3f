import type { UsageTotals } from '@atelier/contract'
import type { ReactNode } from 'react'
import { formatMoney, formatNumber } from '../lib/format.ts'
import styles from './usage.module.css'
import { tokensOf } from './usage-days.ts'

export interface UsageRow {
  key: string
  name: ReactNode
  totals: UsageTotals
}

/** Calls, tokens and cost of some groups; a wide table scrolls by itself. */
export function UsageTable({ caption, head, rows }: { caption: string; head: string; rows: UsageRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by keys
    <section className={styles.scroll} aria-label={caption} tabIndex={0}>
      <table className={styles.table}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <th scope="col">Calls</th>
            <th scope="col">In</th>
            <th scope="col">Cached</th>
            <th scope="col">Out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, totals }) => (
            <Row key={key} name={name} totals={totals} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Row({ name, totals }: Omit<UsageRow, 'key'>) {
  const { input, cached, output } = tokensOf(totals)
  const about = totals.estimated > 0 ? '≈ ' : ''
  const why = totals.estimated > 0 ? 'Partly estimated: some providers did not report' : undefined
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{formatNumber(totals.calls)}</td>
      <td title={why}>
        {about}
        {formatNumber(input)}
      </td>
      <td>{formatNumber(cached)}</td>
      <td title={why}>
        {about}
        {formatNumber(output)}
      </td>
      <td>
        <Cost totals={totals} />
      </td>
    </tr>
  )
}

/** What is not priced is told as such, never as nothing. */
export function Cost({ totals: { cost, unpriced, calls } }: { totals: UsageTotals }) {
  if (unpriced === 0) return formatMoney(cost)
  if (unpriced === calls) return 'unknown'
  return (
    <span title={`${unpriced} of ${calls} calls have no known price`}>{formatMoney(cost)} + unknown</span>
  )
}

import { useMemo, useState } from 'react'
import { formatCompact, formatCount, formatMoney, formatShortDay } from '../lib/format.ts'
import { BarPlot, type BarSeries } from './bar-plot.tsx'
import styles from './usage.module.css'
import { type Bars, barsOf, type DayTotals, tokensOf } from './usage-days.ts'

/** Cost and tokens of each day or week, one above the other; the one under the pointer is told in words. */
export function UsagePlots({ days }: { days: readonly DayTotals[] }) {
  const { unit, totals } = useMemo(() => barsOf(days), [days])
  const plots = useMemo(() => plotsOf(totals), [totals])
  const [hovered, setHovered] = useState<number | null>(null)
  const bar = hovered === null ? undefined : totals[hovered]
  const period = `from ${plots.labels[0] ?? ''} to ${plots.labels.at(-1) ?? ''}`
  return (
    <div className={styles.plots}>
      <figure>
        <figcaption>
          <strong>Cost</strong>
          <span>{bar === undefined ? `USD a ${unit}` : `${nameOf(bar, unit)}: ${costWords(bar)}`}</span>
        </figcaption>
        <BarPlot
          description={`Cost of each ${unit} ${period}`}
          labels={plots.labels}
          series={plots.cost}
          format={(value) => formatMoney(value.toFixed(12))}
          sync="usage"
          onHover={setHovered}
        />
      </figure>
      <figure>
        <figcaption>
          <strong>Tokens</strong>
          {plots.tokens.map(({ label, token, values }) => (
            <span key={label} className={styles.key}>
              <i style={{ background: `var(${token})` }} aria-hidden />
              {label}
              {hovered !== null && ` ${formatCompact(values[hovered] ?? 0)}`}
            </span>
          ))}
        </figcaption>
        <BarPlot
          description={`Tokens of each ${unit} ${period}`}
          labels={plots.labels}
          series={plots.tokens}
          format={formatCompact}
          sync="usage"
          onHover={setHovered}
        />
      </figure>
    </div>
  )
}

function nameOf({ day }: DayTotals, unit: Bars['unit']): string {
  return unit === 'week' ? `Week of ${formatShortDay(day)}` : formatShortDay(day)
}

function costWords({ cost, calls, unpriced }: DayTotals): string {
  const unknown = unpriced > 0 ? `, ${formatCount(unpriced, 'call')} of unknown price` : ''
  return `${formatMoney(cost)} for ${formatCount(calls, 'call')}${unknown}`
}

function plotsOf(days: readonly DayTotals[]) {
  const tokens = days.map(tokensOf)
  const series = (label: string, token: BarSeries['token'], values: number[]): BarSeries => ({
    label,
    token,
    values,
  })
  return {
    labels: days.map(({ day }) => formatShortDay(day)),
    cost: [
      series(
        'Cost',
        '--accent',
        days.map(({ cost }) => Number(cost)),
      ),
    ],
    tokens: [
      series(
        'in',
        '--accent',
        tokens.map(({ input }) => input),
      ),
      series(
        'cached',
        '--code-type',
        tokens.map(({ cached }) => cached),
      ),
      series(
        'out',
        '--code-number',
        tokens.map(({ output }) => output),
      ),
    ],
  }
}

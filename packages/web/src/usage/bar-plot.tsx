import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { useMedia } from '../lib/use-media.ts'
import { plotColours, type SeriesToken } from './plot-colours.ts'
import styles from './usage.module.css'

export interface BarSeries {
  label: string
  token: SeriesToken
  values: readonly number[]
}

export interface BarPlotProps {
  /** what the picture says, in a sentence */
  description: string
  /** of the bars from left to right */
  labels: readonly string[]
  /** stacked, the first at the bottom */
  series: readonly BarSeries[]
  format: (value: number) => string
  /** plots with the same name show the same bar under the pointer */
  sync: string
  onHover: (index: number | null) => void
}

const heightPx = 168
/** Room for the labels of the vertical axis and of the horizontal one. */
const axisPx = { left: 58, bottom: 26 }

/** Bars over days on a canvas; what it shows stands in a table beside it. */
export function BarPlot(props: BarPlotProps) {
  const { labels, series, description } = props
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const theme = useStore(useServices().theme)
  const dark = useMedia('(prefers-color-scheme: dark)')

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read anew with the theme
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const data = stacked(labels.length, series)
    const plot = new uPlot(
      optionsFor(element, latest.current, (index) => latest.current.onHover(index)),
      data,
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [labels, series, theme, dark])

  return <div ref={place} className={styles.plot} role="img" aria-label={description} />
}

/** Each series on top of those before it; the tallest is drawn first, so that the others cover its lower part. */
function stacked(count: number, series: readonly BarSeries[]): uPlot.AlignedData {
  const sums = new Array<number>(count).fill(0)
  const heights = series.map(({ values }) =>
    values.map((value, index) => (sums[index] = (sums[index] ?? 0) + value)),
  )
  return [Array.from({ length: count }, (_none, index) => index), ...heights.toReversed()]
}

function optionsFor(
  element: HTMLElement,
  { labels, series, format, sync }: BarPlotProps,
  onHover: (index: number | null) => void,
): uPlot.Options {
  const colours = plotColours(element)
  const font = `11px ${getComputedStyle(element).fontFamily}`
  const axis: uPlot.Axis = { stroke: colours['--muted'], font, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.72, 36], radius: 0.12 })
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, sync: { key: sync } },
    scales: {
      x: { time: false, range: () => [-0.6, labels.length - 0.4] },
      // A period without any value still has an axis.
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: axisPx.bottom,
        grid: { show: false },
        space: 64,
        incrs: [1, 2, 5, 7, 14, 30, 60, 90],
        values: (_plot, places) => places.map((place) => labels[place] ?? ''),
      },
      {
        ...axis,
        size: axisPx.left,
        grid: { stroke: colours['--line'], width: 1 },
        space: 36,
        values: (_plot, places) => places.map(format),
      },
    ],
    series: [
      {},
      ...series.toReversed().map(({ label, token }) => ({
        label,
        fill: colours[token],
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? null)] },
  }
}

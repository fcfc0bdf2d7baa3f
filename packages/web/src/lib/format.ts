/** Dates and numbers as the reader's locale writes them. */
const number = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function formatNumber(value: number): string {
  return number.format(value)
}

/** 200000 -> 200K, 1048576 -> 1.05M */
export function formatCompact(value: number): string {
  return compact.format(value)
}

/** Bytes in powers of 1024. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  const digits = power === 0 || value >= 100 ? 0 : 1
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ${units[power]}`
}

/** `1 file`, `3 files`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${number.format(count)} ${count === 1 ? noun : plural}`
}

/** A decimal string in USD. Small amounts keep two digits that count, so that nothing paid reads as nothing. */
export function formatMoney(amount: string): string {
  const value = Number(amount)
  if (value === 0) return '$0'
  if (value < 0.000001) return '< $0.000001'
  const digits = value >= 0.1 ? 2 : 1 - Math.floor(Math.log10(value))
  return `$${value.toLocaleString(undefined, { minimumFractionDigits: value >= 0.1 ? 2 : 0, maximumFractionDigits: digits })}`
}

export function formatDay(iso: string): string {
  return day.format(new Date(iso))
}

const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A day of UTC such as `2026-03-01`, without its year: `Mar 1`. */
export function formatShortDay(day: string): string {
  return shortDay.format(new Date(`${day}T00:00:00Z`))
}

export function formatMoment(iso: string): string {
  return moment.format(new Date(iso))
}

/** `320 ms`, `1.4 s`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${number.format(Math.round(milliseconds))} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`
  const minutes = Math.floor(seconds / 60)
  const rest = Math.round(seconds - minutes * 60)
  return rest === 0 ? `${number.format(minutes)} min` : `${number.format(minutes)} min ${rest} s`
}

const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** `5 minutes ago`, seen from `now` (milliseconds since the epoch). */
export function formatAgo(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit)
  }
  return relative.format(0, 'minute')
}

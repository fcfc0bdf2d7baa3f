const secondsOf = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const
const units = ['day', 'hour', 'minute', 'second'] as const

/** A wait as people say it ("in 2 hours"), in the largest unit of which there are two. */
export function waitInWords(seconds: number): string {
  const unit = units.find((one) => seconds >= 2 * secondsOf[one]) ?? 'second'
  return new Intl.RelativeTimeFormat('en').format(Math.round(seconds / secondsOf[unit]), unit)
}

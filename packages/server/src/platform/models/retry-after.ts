/** Longest wait a provider can ask for; a longer one is a fault of its or a proxy's clock. */
const longestMilliseconds = 60 * 60 * 1000

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, `retry-after` (seconds or a date), or Google's
 * `retryDelay` in the body. Undefined when it does not say; at most an hour.
 */
export function retryAfterFrom(
  headers: Readonly<Record<string, string>> | undefined,
  body: string | undefined,
  now = Date.now(),
): number | undefined {
  const wait =
    fromNumber(headers?.['retry-after-ms'], 1) ??
    fromNumber(headers?.['retry-after'], 1000) ??
    fromDate(headers?.['retry-after'], now) ??
    fromNumber(/"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body ?? '')?.[1], 1000)
  return wait === undefined ? undefined : Math.min(Math.max(0, Math.ceil(wait)), longestMilliseconds)
}

function fromNumber(text: string | undefined, unit: number): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * unit : undefined
}

function fromDate(text: string | undefined, now: number): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time - now
}

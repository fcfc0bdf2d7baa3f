import { useEffect, useState } from 'react'

/** The time in milliseconds since the epoch, renewed every `everyMs`; 0 stops renewing. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (everyMs === 0) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

import { useEffect, useState } from 'react'

/** Time without a key after which typing is taken as finished, in milliseconds. */
const restMs = 250

/** The value as it was when it last rested, so that not every key asks the server. */
export function useDebounced<Value>(value: Value): Value {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return rested
}

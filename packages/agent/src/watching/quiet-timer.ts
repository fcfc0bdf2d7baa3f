/** Milliseconds without another touch after which the timer fires. */
const quietMs = 500
/** Milliseconds after the first touch at which it fires even without quiet. */
const longestMs = 5000

/** Fires once things have been quiet for a while after a touch. */
export function createQuietTimer(fire: () => void): { touch(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let deadline = 0
  return {
    touch() {
      const now = Date.now()
      if (timer === undefined) deadline = now + longestMs
      clearTimeout(timer)
      timer = setTimeout(
        () => {
          timer = undefined
          fire()
        },
        Math.max(0, Math.min(quietMs, deadline - now)),
      )
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Milliseconds since the epoch; passed to whatever decides by time, so that a test can move it. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

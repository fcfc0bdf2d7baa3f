/** Jobs of one person that may wait or run at once: staged uploads take disk until their job has ended. */
export const maxActiveJobsPerUser = 10

/**
 * How long a worker may be silent before another takes its job over, in milliseconds. Longer than the event loop can
 * stall while a large file is split; short enough that a person still waits after a crash.
 */
export const leaseMilliseconds = 30_000

/** How often a worker renews its lease: three attempts before it is lost. */
export const heartbeatMilliseconds = 10_000

/** How often progress is written and shown: 4 a second look smooth, and a database notices no fewer. */
export const progressMilliseconds = 250

/** Starts of one job, cut-off ones included: a job that takes the server down with it does so this often. */
export const maxAttempts = 5

/** Wait before a job that met a fault which may pass is tried again, by attempt: 1, 4, 16, 64 s. */
export function retryDelayMilliseconds(attempt: number): number {
  return 1_000 * 4 ** Math.min(attempt - 1, 3)
}

/** How long a job waits for the node that holds its files, in hours, before it fails and its owner can act. */
export const strandedHours = 24

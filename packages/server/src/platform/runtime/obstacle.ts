import type { SessionRuntime } from './session-runtime.ts'

/** Why no workspace can be started here, and what helps; `null` where one can. The first call waits for the self-test. */
export async function obstacleOf(runtime: Pick<SessionRuntime, 'selfTest'>): Promise<string | null> {
  const { passed, probes } = await runtime.selfTest()
  if (passed) return null
  const broken = probes.filter(({ kind, held }) => kind === 'isolation' && !held)
  return broken.map(({ name, detail }) => `${name}: ${detail}`).join('; ') || 'the self-test did not pass'
}

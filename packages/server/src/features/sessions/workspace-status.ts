import type { WorkspaceStatus } from '@atelier/contract'
import type { SelfTestReport, SessionRuntime } from '../../platform/runtime/session-runtime.ts'
import { lastActivity, type WorkspaceSession } from './workspace-session.ts'

/** What a member sees of a workspace's sandbox. The first call on a server waits for the self-test of its runtime. */
export async function describeSession(
  session: WorkspaceSession,
  { runtime, idleMilliseconds }: { runtime: SessionRuntime; idleMilliseconds: number },
): Promise<WorkspaceStatus> {
  const isolation = isolationOf(runtime, await runtime.selfTest())
  const view = session.view()
  const running = view.phase.state === 'running'
  const observed = running ? await runtime.status({ workspaceId: session.workspaceId }) : null
  return {
    workspaceId: session.workspaceId,
    desired: view.desired,
    state: view.phase.state,
    reason: view.reason,
    since: iso(view.since),
    isolation,
    activity: [...view.activity].map(([kind, { detail, at }]) => ({ kind, detail, at: iso(at) })),
    stopsAt: running ? iso(lastActivity(view) + idleMilliseconds) : null,
    usage: observed?.state === 'running' ? observed.usage : null,
  }
}

function isolationOf(runtime: SessionRuntime, report: SelfTestReport): WorkspaceStatus['isolation'] {
  const { isolation, passed, limits, missing } = report
  const broken = report.probes.filter(({ kind, held }) => kind === 'isolation' && !held)
  return {
    runtime: runtime.kind,
    kind: isolation,
    available: passed,
    reason: passed ? null : broken.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
    limits,
    missing,
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

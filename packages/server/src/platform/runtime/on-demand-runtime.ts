import { AppError } from '../../base/app-error.ts'
import type { Clock } from '../../base/clock.ts'
import type { SelfTestReport, SessionRuntime } from './session-runtime.ts'

/** A self-test that failed is not repeated sooner: it costs a second of processor time. */
const retestMilliseconds = 60_000

export interface OnDemandOptions {
  kind: SessionRuntime['kind']
  /** What stands in the way of every start right now, and what helps; null: nothing known. */
  objection(): Promise<string | null>
  /** Builds the runtime at its first use, so that a server without workspaces never pays for it. */
  make(): Promise<SessionRuntime>
  clock: Clock
}

/**
 * A runtime that is not there until it is needed and that a machine may lack: the server starts and everything but
 * starting a workspace works. What is in the way is looked at again at every start, so that a repair needs no restart.
 */
export function createOnDemandRuntime(options: OnDemandOptions): SessionRuntime {
  const { kind, clock } = options
  let made: Promise<SessionRuntime> | undefined
  let failed: { report: SelfTestReport; at: number } | undefined

  function inner(): Promise<SessionRuntime> {
    made ??= options.make().catch((error: unknown) => {
      made = undefined
      throw unavailable(messageOf(error), error)
    })
    return made
  }

  async function selfTest(): Promise<SelfTestReport> {
    const objection = await options.objection()
    if (objection !== null) return refusal(kind, objection)
    if (failed && clock() - failed.at < retestMilliseconds) return failed.report
    const report = await test()
    if (report.passed) return report
    failed = { report, at: clock() }
    // A runtime remembers its report: another attempt takes another runtime.
    const refused = made
    made = undefined
    await (await refused?.catch(() => undefined))?.[Symbol.asyncDispose]()
    return report
  }

  async function test(): Promise<SelfTestReport> {
    try {
      return await (await inner()).selfTest()
    } catch (error) {
      return refusal(kind, messageOf(error))
    }
  }

  return {
    kind,
    selfTest,
    create: async (spec) => (await inner()).create(spec),
    async start(ref, epoch) {
      const report = await selfTest()
      if (!report.passed) throw unavailable(reasonsOf(report))
      return (await inner()).start(ref, epoch)
    },
    stop: async (ref, graceMs) => (await inner()).stop(ref, graceMs),
    destroy: async (ref) => (await inner()).destroy(ref),
    status: async (ref) => (await inner()).status(ref),
    dial: async (ref) => (await inner()).dial(ref),
    async [Symbol.asyncDispose]() {
      await (await made?.catch(() => undefined))?.[Symbol.asyncDispose]()
    },
  }
}

function refusal(kind: SessionRuntime['kind'], detail: string): SelfTestReport {
  return {
    passed: false,
    isolation: 'none',
    limits: [],
    missing: [],
    probes: [{ name: kind, kind: 'isolation', held: false, detail }],
  }
}

function reasonsOf(report: SelfTestReport): string {
  return report.probes
    .filter((probe) => probe.kind === 'isolation' && !probe.held)
    .map(({ name, detail }) => `${name}: ${detail}`)
    .join('; ')
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', `Workspaces cannot be started here: ${reason}`, { cause })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

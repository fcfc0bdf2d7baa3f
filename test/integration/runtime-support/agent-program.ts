import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { AgentProgram } from '../../../packages/server/src/platform/runtime/sandbox-files.ts'

/** The agent as it is shipped: bundled, with its native parts. Building costs nothing when nothing has changed. */
export function builtAgent(): AgentProgram {
  const agentPackage = fileURLToPath(new URL('../../../packages/agent/', import.meta.url))
  execFileSync(process.execPath, [`${agentPackage}build.mjs`], { stdio: 'inherit' })
  return { directory: `${agentPackage}dist`, node: process.execPath }
}

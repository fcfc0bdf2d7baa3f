import { processLimits } from '@atelier/contract/agent-processes'
import type { AgentOperationName, AgentResult } from '@atelier/contract/agent-protocol'
import type { Call } from './call.ts'
import type { Answer } from './connection.ts'
import { Fault } from './fault.ts'
import { runBatch } from './files/batch.ts'
import { exportArchive } from './files/export-archive.ts'
import { grep } from './files/grep.ts'
import { importArchive } from './files/import-archive.ts'
import { listFiles } from './files/list-files.ts'
import { deleteEntry, makeDirectory, moveEntry, statFile } from './files/manage-files.ts'
import { readFile } from './files/read-file.ts'
import type { Workspace } from './files/workspace.ts'
import { writeFile } from './files/write-file.ts'
import { terminalActivity } from './processes/activity.ts'
import { runCommand } from './processes/command.ts'
import { runDial } from './processes/dial.ts'
import type { NativePty } from './processes/native-pty.ts'
import { listPorts } from './processes/ports.ts'
import { runTerminal } from './processes/terminal.ts'
import { measureUsage } from './processes/usage.ts'
import { runWatch } from './watching/watch.ts'
import type { WatchHub } from './watching/watch-hub.ts'

type Operations = { [Name in AgentOperationName]: (call: Call<Name>) => Promise<AgentResult<Name>> }

export interface OperationDeps {
  workspace: Workspace
  environment: Record<string, string>
  watchHub: WatchHub
  /** the reason when terminals are not possible on this machine */
  native: NativePty | string
  ripgrep: string | undefined
  /** this program's own file, which can also scan */
  program: string
}

/** The table from operation to function: everything the agent can do is here. */
export function createOperations(deps: OperationDeps): Answer {
  const { workspace, environment, watchHub } = deps
  const terminals = new Map<number, { pid: number }>()
  const commands = new Map<number, { pid: number; name: string; startedAt: number }>()
  const connections = new Set<number>()

  const operations: Operations = {
    'files.stat': ({ params }) => statFile(workspace, params),
    'files.list': ({ params, signal }) => listFiles(workspace, params, signal),
    'files.read': ({ params, signal, emit, send }) =>
      readFile(workspace, params, { signal, opened: emit, send }),
    'files.write': ({ params, body, signal }) => writeFile(workspace, params, body, signal),
    'files.mkdir': ({ params }) => makeDirectory(workspace, params),
    'files.move': ({ params }) => moveEntry(workspace, params),
    'files.delete': ({ params }) => deleteEntry(workspace, params),
    'files.batch': ({ params, body, signal }) => runBatch(workspace, params, body, signal),
    'files.grep': ({ params, signal }) =>
      grep(workspace, params, { signal, ripgrep: deps.ripgrep, program: deps.program }),
    'files.import': ({ params, body, signal }) => importArchive(workspace, params, body, signal),
    'files.export': ({ params, signal, send }) => exportArchive(workspace, params, { signal, send }),
    'watch.start': (call) => runWatch(watchHub, call),
    'terminal.open': async (call) => {
      if (typeof deps.native === 'string') throw new Fault('UNSUPPORTED', deps.native)
      refuseAbove(terminals.size, processLimits.terminals, 'terminals')
      return await runTerminal({ workspace, native: deps.native, environment, open: terminals }, call)
    },
    'command.run': async (call) => {
      refuseAbove(commands.size, processLimits.commands, 'commands')
      return await runCommand({ workspace, environment, running: commands }, call)
    },
    dial: async (call) => {
      refuseAbove(connections.size, processLimits.connections, 'connections')
      connections.add(call.id)
      return await runDial(call).finally(() => connections.delete(call.id))
    },
    'ports.list': async () => listPorts(),
    'agent.activity': async () => ({
      terminals: terminalActivity(terminals),
      commands: [...commands].map(([call, command]) => ({ call, ...command })),
      connections: connections.size,
      watchers: watchHub.count(),
    }),
    'agent.usage': ({ params, signal }) => measureUsage(workspace, params, signal),
  }

  // The parameters of `call` have been parsed with the schema of `op`.
  return (op, call) => operations[op](call as never)
}

function refuseAbove(count: number, limit: number, what: string): void {
  if (count >= limit) throw new Fault('BUSY', `too many ${what}`, { details: { limit } })
}

import { connectAgent } from '../../../packages/server/src/platform/runtime/agent-client.ts'
import { createDockerRuntime } from '../../../packages/server/src/platform/runtime/docker-runtime.ts'
import { createEgress } from '../../../packages/server/src/platform/runtime/egress-proxy.ts'
import { createProcessRuntime } from '../../../packages/server/src/platform/runtime/process-runtime.ts'
import { defaultWorkspaceLimits } from '../../../packages/server/src/platform/runtime/session-runtime.ts'
import { bytes, shell } from './agent-calls.ts'
import { builtAgent } from './agent-program.ts'
import { writeVersions } from './whole-versions.ts'

/**
 * A server that can be killed: `runtime-child.ts DIRECTORY [IMAGE SOCKET]`. Starts a workspace with a terminal and a
 * command in it, prints what descriptors are open inside, and waits for its end; with TEST_WRITE_FROM it writes one
 * version after the other meanwhile, and prints each that is acknowledged.
 */
const [directory = '', image, socketPath] = process.argv.slice(2)
const logger = { warn: (data: object, message: string) => console.error(message, data) }
const shared = { directory, program: builtAgent(), openEgress: createEgress({ logger }), logger }
const runtime =
  image === undefined || socketPath === undefined
    ? createProcessRuntime(shared)
    : createDockerRuntime({ ...shared, image, socketPath })
const ref = await runtime.create({
  workspaceId: 'ws_child',
  limits: defaultWorkspaceLimits,
  egress: { allow: ['example.org'] },
})
await runtime.start(ref, BigInt(process.env.TEST_EPOCH ?? '1'))
const agent = await connectAgent({ stream: await runtime.dial(ref) })
const terminal = agent.open('terminal.open', { command: ['/bin/bash', '--norc'] })
await terminal.write(bytes('trap "" HUP TERM; setsid sleep 1000 & sleep 1000\n'))
agent.open('command.run', {
  command: ['/bin/bash', '-c', 'trap "" TERM HUP; nohup sleep 1000 & wait'],
  timeoutMs: 1_000_000,
})
await agent.call('files.write', { path: 'kept', base: { kind: 'any' } }, { body: bytes('kept') })
const { stdout } = await shell(
  agent,
  'ls -l /proc/[0-9]*/fd 2>/dev/null; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; exit 0',
)
console.log(JSON.stringify({ inside: stdout, report: await runtime.selfTest() }))
const first = Number(process.env.TEST_WRITE_FROM ?? 0)
if (first > 0)
  await writeVersions(agent, { first, acknowledged: (version) => console.log(`acknowledged ${version}`) })
setInterval(() => undefined, 1000)

import * as z from 'zod'
import { fileOperations } from './agent-files.ts'
import { processOperations } from './agent-processes.ts'

/**
 * What the server and the agent inside a workspace say to each other over one stream of frames (agent-frame.ts).
 *
 * The agent speaks first: `hello` with the versions it speaks. The server answers `hello` with the one it picked.
 * Then every call is a channel with a number the server chose: `open`, any `data`, `event`, `credit`, `end` in both
 * directions, and exactly one `result` or `fail` from the agent, after which the number is free.
 */
export const agentProtocolVersion = 1

export const protocolLimits = {
  /** bytes the server may send in one call before the agent grants more */
  uploadWindow: 256 * 1024,
  /** bytes the agent may send in one call before the server grants more, unless `open` says otherwise */
  downloadWindow: 512 * 1024,
  /** calls open at once on one connection */
  calls: 1024,
  /** milliseconds either side waits for the other's hello */
  helloMs: 10_000,
} as const

/** Every operation: params, result, events from the agent, controls from the server, and whether bytes flow. */
export const agentOperations = { ...fileOperations, ...processOperations } as const

export type AgentOperations = typeof agentOperations
export type AgentOperationName = keyof AgentOperations
export const agentOperationNames = Object.keys(agentOperations) as [
  AgentOperationName,
  ...AgentOperationName[],
]

export interface AgentOperationShape {
  params: z.ZodType
  result: z.ZodType
  events?: z.ZodType
  controls?: z.ZodType
  upload?: boolean
  download?: boolean
}

type Part<Name extends AgentOperationName, Key extends string> = AgentOperations[Name] extends {
  [K in Key]: infer Schema
}
  ? Schema
  : never
type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : never
type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : never

/** What a caller passes and what a handler receives. */
export type AgentInput<Name extends AgentOperationName> = Input<Part<Name, 'params'>>
export type AgentParams<Name extends AgentOperationName> = Output<Part<Name, 'params'>>
export type AgentResult<Name extends AgentOperationName> = Output<Part<Name, 'result'>>
export type AgentEvent<Name extends AgentOperationName> = Output<Part<Name, 'events'>>
export type AgentControl<Name extends AgentOperationName> = Input<Part<Name, 'controls'>>

export const agentErrorCodes = [
  /** the request does not fit its schema, or contradicts itself */
  'INVALID',
  'NOT_FOUND',
  /** the content is not the one the caller believed; `details.revision` is the current one, null if there is none */
  'CONFLICT',
  'NOT_A_FILE',
  'NOT_A_DIRECTORY',
  'NOT_EMPTY',
  /** the path leads through a symbolic link */
  'LINK_REFUSED',
  /** `details.limit` names what was exceeded */
  'TOO_LARGE',
  /** too many of something at once; `details.limit` names it */
  'BUSY',
  'PERMISSION',
  'NO_SPACE',
  'CANCELLED',
  'TIMEOUT',
  /** nobody listens where the call dialled */
  'REFUSED',
  /** this machine cannot do it; the message says why */
  'UNSUPPORTED',
  /** a newer agent owns this workspace */
  'FENCED',
  'INTERNAL',
] as const
export const AgentErrorCode = z.enum(agentErrorCodes)
export type AgentErrorCode = z.infer<typeof AgentErrorCode>

const CallId = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
const Channel = z.int().min(0).max(3)
const Availability = z.strictObject({ available: z.boolean(), reason: z.string().max(500).nullable() })

export const AgentHello = z.strictObject({
  t: z.literal('hello'),
  versions: z.array(z.int().min(1)).min(1).max(20),
  agent: z.strictObject({
    version: z.string().max(50),
    node: z.string().max(50),
    platform: z.string().max(50),
    /** number of this ownership of the workspace, decimal */
    epoch: z.string().regex(/^\d{1,20}$/),
    /** absolute path of the workspace's root inside the sandbox */
    root: z.string().max(4096),
  }),
  features: z.strictObject({
    ripgrep: z.boolean(),
    terminals: Availability,
    watcher: Availability,
    /** the egress proxy is reachable from inside */
    egress: z.boolean(),
  }),
  /** a batch that a crash had cut short, and what became of it */
  recovered: z.enum(['none', 'completed', 'undone']),
})
export type AgentHello = z.infer<typeof AgentHello>

const data = z.strictObject({ t: z.literal('data'), id: CallId, channel: Channel.optional() })
const event = z.strictObject({ t: z.literal('event'), id: CallId, event: z.unknown() })
const credit = z.strictObject({
  t: z.literal('credit'),
  id: CallId,
  bytes: z
    .int()
    .min(1)
    .max(16 * 1024 * 1024),
})
const end = z.strictObject({ t: z.literal('end'), id: CallId })

/** Headers the server sends. */
export const ServerFrame = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('hello'), version: z.int().min(1) }),
  z.strictObject({
    t: z.literal('open'),
    id: CallId,
    op: z.enum(agentOperationNames),
    params: z.unknown(),
    /** bytes the agent may send at first */
    window: z
      .int()
      .min(1)
      .max(16 * 1024 * 1024),
  }),
  data,
  event,
  credit,
  end,
  z.strictObject({ t: z.literal('cancel'), id: CallId }),
  z.strictObject({ t: z.literal('ping'), nonce: z.int() }),
])
export type ServerFrame = z.infer<typeof ServerFrame>

/** Headers the agent sends. */
export const AgentFrame = z.discriminatedUnion('t', [
  AgentHello,
  data,
  event,
  credit,
  end,
  z.strictObject({ t: z.literal('result'), id: CallId, result: z.unknown() }),
  z.strictObject({
    t: z.literal('fail'),
    id: CallId,
    code: AgentErrorCode,
    message: z.string().max(2000),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ t: z.literal('pong'), nonce: z.int() }),
])
export type AgentFrame = z.infer<typeof AgentFrame>

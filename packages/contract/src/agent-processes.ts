import * as z from 'zod'
import { WorkspacePath } from './agent-files.ts'

export const processLimits = {
  /** terminals open at once in one workspace */
  terminals: 64,
  /** commands running at once in one workspace */
  commands: 32,
  /** connections dialled at once into one workspace */
  connections: 512,
  /** changes in one event of the watcher */
  changes: 500,
} as const

const noNul = /^[^\0]*$/
const Argument = z.string().max(131_072).regex(noNul)
const Environment = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .max(200),
    z.string().max(32_768).regex(noNul),
  )
  .refine((variables) => Object.keys(variables).length <= 200, 'at most 200 variables')

const Columns = z.int().min(1).max(1000)
const Rows = z.int().min(1).max(1000)
export const TerminalSignal = z.enum([
  'SIGINT',
  'SIGTERM',
  'SIGKILL',
  'SIGHUP',
  'SIGQUIT',
  'SIGTSTP',
  'SIGCONT',
])

const Exit = {
  exitCode: z.int().nullable(),
  /** name of the signal that ended it */
  signal: z.string().max(20).nullable(),
}

export const WatchState = z.strictObject({
  kind: z.literal('state'),
  /** `native`: told by the kernel; `polling`: compared every few seconds, and why; `off`: neither works, and why */
  mode: z.enum(['native', 'polling', 'off']),
  reason: z.string().max(500).nullable(),
})
export const WatchChanges = z.strictObject({
  kind: z.literal('changes'),
  changes: z
    .array(z.strictObject({ path: WorkspacePath, type: z.enum(['create', 'update', 'delete']) }))
    .max(processLimits.changes),
  /** more changed than could be kept: the receiver must list anew */
  overflow: z.boolean(),
})
export const WatchEvent = z.discriminatedUnion('kind', [WatchState, WatchChanges])
export type WatchEvent = z.infer<typeof WatchEvent>

export const DialTarget = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('tcp'), port: z.int().min(1).max(65_535) }),
  /** a socket's path inside the sandbox */
  z.strictObject({ kind: z.literal('unix'), path: z.string().startsWith('/').max(107).regex(noNul) }),
])
export type DialTarget = z.infer<typeof DialTarget>

/** `channel` of a command's output */
export const outputChannels = { stdout: 1, stderr: 2 } as const

export const processOperations = {
  /** Runs until cancelled; the first event is the state. */
  'watch.start': {
    params: z.strictObject({
      /** patterns in the language of `.gitignore`, beside the directories the agent never watches */
      ignore: z.array(z.string().min(1).max(500)).max(100).default([]),
    }),
    events: WatchEvent,
    result: z.strictObject({}),
  },

  /** Bytes both ways; the result comes after the last byte of output. */
  'terminal.open': {
    params: z.strictObject({
      /** the login shell where absent */
      command: z.array(Argument).min(1).max(200).optional(),
      cwd: WorkspacePath.default(''),
      env: Environment.default({}),
      cols: Columns.default(80),
      rows: Rows.default(24),
    }),
    events: z.strictObject({ kind: z.literal('started'), pid: z.int() }),
    controls: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('resize'), cols: Columns, rows: Rows }),
      /** to the foreground job */
      z.strictObject({ kind: z.literal('signal'), signal: TerminalSignal }),
    ]),
    result: z.strictObject(Exit),
    upload: true,
    download: true,
  },

  /** Upload is standard input; downloads carry `channel`. */
  'command.run': {
    params: z.strictObject({
      command: z.array(Argument).min(1).max(1000),
      cwd: WorkspacePath.default(''),
      env: Environment.default({}),
      timeoutMs: z
        .int()
        .min(1)
        .max(24 * 3600 * 1000)
        .default(60_000),
      /** of both channels together; more is thrown away and the group is killed */
      maxOutputBytes: z
        .int()
        .min(0)
        .max(1024 ** 3)
        .default(16 * 1024 * 1024),
    }),
    events: z.strictObject({ kind: z.literal('started'), pid: z.int() }),
    result: z.strictObject({
      ...Exit,
      stopped: z.enum(['timeout', 'output-limit']).nullable(),
      outputBytes: z.int().min(0),
      durationMs: z.number(),
    }),
    upload: true,
    download: true,
  },

  /** Connects inside the sandbox's own network namespace, to its loopback only. */
  dial: {
    params: z.strictObject({ target: DialTarget }),
    events: z.strictObject({ kind: z.literal('connected') }),
    result: z.strictObject({}),
    upload: true,
    download: true,
  },

  /** TCP ports somebody listens on inside the sandbox. */
  'ports.list': {
    params: z.strictObject({}),
    result: z.strictObject({
      ports: z
        .array(z.strictObject({ port: z.int().min(1).max(65_535), address: z.string().max(45) }))
        .max(1000),
    }),
  },

  /** What keeps the workspace busy: foreground jobs and commands count, open sockets do not. */
  'agent.activity': {
    params: z.strictObject({}),
    result: z.strictObject({
      terminals: z.array(
        z.strictObject({
          call: z.int(),
          pid: z.int(),
          foreground: z.strictObject({ pid: z.int(), name: z.string().max(200) }).nullable(),
        }),
      ),
      commands: z.array(
        z.strictObject({ call: z.int(), pid: z.int(), name: z.string().max(200), startedAt: z.number() }),
      ),
      connections: z.int(),
      watchers: z.int(),
    }),
  },

  /** Processes and disk of the workspace; the walk over the disk is bounded and says so. */
  'agent.usage': {
    params: z.strictObject({ disk: z.boolean().default(false) }),
    result: z.strictObject({
      processes: z.int(),
      residentBytes: z.int(),
      disk: z.strictObject({ bytes: z.int(), files: z.int(), complete: z.boolean() }).nullable(),
    }),
  },
} as const

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCall } from '../../packages/server/src/platform/runtime/agent-call.ts'
import { bytes, collect, shell } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

let pair: AgentPair
let agent: AgentPair['agent']
beforeAll(async () => {
  pair = await startAgentPair()
  agent = pair.agent
})
afterAll(() => pair[Symbol.asyncDispose]())

type Terminal = AgentCall<'terminal.open'>

/** Reads a terminal until its output matches, and returns all there was. */
async function until(
  reader: AsyncIterator<{ kind: string; bytes?: Uint8Array }>,
  pattern: RegExp,
): Promise<string> {
  let text = ''
  while (!pattern.test(text)) {
    const next = await reader.next()
    if (next.done === true) throw new Error(`the terminal ended before ${pattern}: ${JSON.stringify(text)}`)
    if (next.value.bytes !== undefined) text += Buffer.from(next.value.bytes).toString('utf8')
  }
  return text
}

function openShell(params: object = {}): {
  terminal: Terminal
  reader: AsyncIterator<{ kind: string; bytes?: Uint8Array }>
} {
  const terminal = agent.open('terminal.open', {
    command: ['/bin/bash', '--norc', '--noprofile', '-i'],
    env: { PS1: '$ ' },
    ...params,
  })
  return { terminal, reader: terminal.messages[Symbol.asyncIterator]() }
}

const type = (terminal: Terminal, text: string) => terminal.write(bytes(text))

/** Waits until a program has the terminal. */
async function foreground(terminal: Terminal, name: string): Promise<void> {
  const current = async () => {
    const { terminals } = await agent.call('agent.activity', {})
    return terminals.find(({ call }) => call === terminal.id)?.foreground?.name
  }
  await expect.poll(current).toBe(name)
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function eventually(check: () => boolean, milliseconds = 5000): Promise<boolean> {
  const deadline = Date.now() + milliseconds
  while (!check() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return check()
}

describe('a terminal', () => {
  it('[AGT40] never says that it has ended before its last output', async () => {
    for (let round = 0; round < 50; round += 1) {
      const terminal = agent.open('terminal.open', {
        command: ['/bin/sh', '-c', `seq 1 400; echo last-${round}`],
      })
      const text = (await collect(terminal)).toString('utf8')
      expect(text.endsWith(`400\r\nlast-${round}\r\n`)).toBe(true)
      expect(await terminal.result).toEqual({ exitCode: 0, signal: null })
    }
  })

  it('[AGT40] gives everything to a reader who comes late, although the program has ended', async () => {
    const terminal = agent.open(
      'terminal.open',
      { command: ['/bin/sh', '-c', 'seq 1 20000'] },
      { window: 1000 },
    )
    await new Promise((resolve) => setTimeout(resolve, 700))
    const text = (await collect(terminal)).toString('utf8')
    expect(text).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\r\n`).join(''))
  })

  it('[AGT41] that nobody reads stops its program, and nothing is lost when somebody does', async () => {
    const terminal = agent.open(
      'terminal.open',
      { command: ['/bin/sh', '-c', 'yes 0123456789 | head -c 30000000'] },
      { window: 64 * 1024 },
    )
    const before = process.memoryUsage().rss
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
    let size = 0
    for await (const message of terminal.messages) if (message.kind === 'data') size += message.bytes.length
    // Every line feed becomes two characters on a terminal.
    expect(size).toBe(30_000_000 + Math.floor(30_000_000 / 11))
  })

  it('[AGT41] that nobody reads does not slow others', async () => {
    const stuck = agent.open('terminal.open', { command: ['yes'] }, { window: 1024 })
    expect((await shell(agent, 'echo fine')).stdout).toBe('fine\n')
    stuck.cancel()
    await expect(stuck.result).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  it('[AGT44] whose program reads nothing of what is typed holds up nothing else', async () => {
    const command = ['bash', '-c', 'stty -icanon -echo; echo deaf; exec sleep 1000']
    const deaf = agent.open('terminal.open', { command })
    for await (const message of deaf.messages)
      if (message.kind === 'data' && Buffer.from(message.bytes).includes('deaf')) break
    await type(deaf, 'x'.repeat(100_000))
    expect((await shell(agent, 'echo fine')).stdout).toBe('fine\n')
    deaf.cancel()
    await expect(deaf.result).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  it('[AGT42] has the size it was opened with, and the one it is given', async () => {
    const { terminal, reader } = openShell({ cols: 101, rows: 41 })
    await until(reader, /\$ $/)
    await type(terminal, 'stty size\n')
    await until(reader, /41 101\r\n/)
    terminal.control({ kind: 'resize', cols: 55, rows: 22 })
    await type(terminal, 'stty size\n')
    await until(reader, /22 55\r\n/)
    terminal.cancel()
  })

  it('[AGT42] Ctrl-C ends the job and leaves the shell; Ctrl-Z, bg and fg work', async () => {
    const { terminal, reader } = openShell()
    await until(reader, /\$ $/)
    await type(terminal, 'sleep 1000\n')
    await until(reader, /sleep 1000\r\n/)
    await foreground(terminal, 'sleep')
    await type(terminal, '\x03')
    await until(reader, /\^C\r\n.*\$ $/s)
    await type(terminal, 'echo status=$?\n')
    await until(reader, /status=130/)
    await type(terminal, 'sleep 1000\n')
    await until(reader, /sleep 1000\r\n/)
    await foreground(terminal, 'sleep')
    await type(terminal, '\x1a')
    await until(reader, /Stopped/)
    await type(terminal, 'bg\n')
    await until(reader, /sleep 1000 &/)
    await type(terminal, 'jobs; kill %1; exit 7\n')
    await until(reader, /Running/)
    while ((await reader.next()).done !== true);
    expect(await terminal.result).toEqual({ exitCode: 7, signal: null })
  })

  it('[AGT42] can be signalled past its input', async () => {
    const { terminal, reader } = openShell()
    await until(reader, /\$ $/)
    await type(terminal, 'sleep 1000\n')
    await until(reader, /sleep 1000\r\n/)
    await foreground(terminal, 'sleep')
    terminal.control({ kind: 'signal', signal: 'SIGTERM' })
    await until(reader, /Terminated/)
    terminal.cancel()
  })

  it('[AGT43] that is closed takes its programs with it', async () => {
    const { terminal, reader } = openShell()
    await until(reader, /\$ $/)
    await type(terminal, 'echo pid=$$; trap "" HUP; (trap "" HUP TERM; exec sleep 1000)\n')
    const pid = Number(/pid=(\d+)/.exec(await until(reader, /pid=\d+/))?.[1])
    expect(alive(pid)).toBe(true)
    terminal.cancel()
    await expect(terminal.result).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await eventually(() => !alive(pid))).toBe(true)
  })

  it('[AGT40] ends with its shell, although a job in the background keeps it open', async () => {
    const { terminal, reader } = openShell()
    await until(reader, /\$ $/)
    await type(terminal, 'sleep 2 & disown; exit 3\n')
    while ((await reader.next()).done !== true);
    expect(await terminal.result).toMatchObject({ exitCode: 3 })
  })

  it('[AGT40] names the signal that ended its program', async () => {
    const terminal = agent.open('terminal.open', { command: ['/bin/sh', '-c', 'kill -9 $$'] })
    await collect(terminal)
    expect(await terminal.result).toEqual({ exitCode: null, signal: 'SIGKILL' })
  })

  it('[AGT10] starts in a directory of the workspace and nowhere else', async () => {
    await agent.call('files.mkdir', { path: 'sub' })
    const terminal = agent.open('terminal.open', { command: ['/bin/sh', '-c', 'pwd; echo $PWD'], cwd: 'sub' })
    expect((await collect(terminal)).toString()).toBe(`${pair.root}/sub\r\n${pair.root}/sub\r\n`)
    await expect(agent.open('terminal.open', { cwd: 'missing' }).result).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('a command', () => {
  it('[AGT50] has input, two kinds of output and an exit code', async () => {
    const answer = await shell(agent, 'cat; echo out; echo err >&2; exit 3', { input: 'in\n' })
    expect(answer).toMatchObject({
      stdout: 'in\nout\n',
      stderr: 'err\n',
      exitCode: 3,
      signal: null,
      stopped: null,
      outputBytes: 11,
    })
  })

  it('[AGT50] takes a large input as slowly as it reads it', async () => {
    const input = 'x'.repeat(3_000_000)
    expect((await shell(agent, 'sleep 0.2; wc -c', { input })).stdout.trim()).toBe('3000000')
    expect((await shell(agent, 'head -c 5', { input })).stdout).toBe('xxxxx')
  })

  it('[AGT51] over its time is killed with all it has started', async () => {
    const answer = await shell(agent, 'sleep 1000 & echo $!; sleep 1000', { timeoutMs: 500 })
    expect(answer).toMatchObject({ exitCode: null, signal: 'SIGKILL', stopped: 'timeout' })
    const pid = Number(answer.stdout)
    expect(await eventually(() => !alive(pid))).toBe(true)
  })

  it('[AGT52] over its output is killed, and what was allowed has come', async () => {
    const call = agent.open('command.run', { command: ['yes'], maxOutputBytes: 100_000 })
    let size = 0
    for await (const message of call.messages) if (message.kind === 'data') size += message.bytes.length
    expect(size).toBe(100_000)
    expect(await call.result).toMatchObject({ stopped: 'output-limit', signal: 'SIGKILL' })
  })

  it('[AGT5] that is cancelled is killed with all it has started', async () => {
    const call = agent.open('command.run', { command: ['/bin/sh', '-c', 'sleep 1000 & echo $!; wait'] })
    const reader = call.messages[Symbol.asyncIterator]()
    const pid = Number(/\d+/.exec(await until(reader, /\d+\n/))?.[0])
    call.cancel()
    await expect(call.result).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await eventually(() => !alive(pid))).toBe(true)
  })

  it('[AGT50] ends although a job in the background holds its output', async () => {
    expect(await shell(agent, 'sleep 1000 & echo started')).toMatchObject({
      stdout: 'started\n',
      exitCode: 0,
    })
  })

  it('[AGT50] that does not exist is NOT_FOUND', async () => {
    const call = agent.open('command.run', { command: ['no-such-program'] })
    await expect(call.result).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('dialling', () => {
  let echo: Server
  let port: number
  let directory: string
  const listen = (path?: string) =>
    new Promise<Server>((resolve) => {
      // Answers only when the caller has finished: both directions must be able to end on their own.
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        const parts: Buffer[] = []
        socket.on('data', (part: Buffer) => parts.push(part))
        socket.on('end', () => socket.end(`got ${Buffer.concat(parts).length}`))
      })
      server.listen(path ?? { host: '127.0.0.1', port: 0 }, () => resolve(server))
    })

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'atelier-dial-'))
    echo = await listen()
    const address = echo.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterAll(() => {
    echo.close()
    rmSync(directory, { recursive: true })
  })

  it('[AGT60] joins the call to a port, and each direction ends on its own', async () => {
    const call = agent.open('dial', { target: { kind: 'tcp', port } })
    await call.write(new Uint8Array(2_000_000))
    call.end()
    expect((await collect(call)).toString()).toBe('got 2000000')
    expect(await call.result).toEqual({})
  })

  it('[AGT60] reaches a UNIX socket', async () => {
    const path = join(directory, 'socket')
    const server = await listen(path)
    const call = agent.open('dial', { target: { kind: 'unix', path } })
    call.end()
    expect((await collect(call)).toString()).toBe('got 0')
    server.close()
  })

  it('[AGT60] a port nobody listens on is REFUSED', async () => {
    const call = agent.open('dial', { target: { kind: 'tcp', port: 1 } })
    await expect(call.result).rejects.toMatchObject({ code: 'REFUSED' })
  })

  it('[AGT60] lists the ports that are listened on', async () => {
    const { ports } = await agent.call('ports.list', {})
    expect(ports).toContainEqual({ port, address: '127.0.0.1' })
  })
})

describe('activity', () => {
  it('[AGT70] a foreground job keeps the workspace busy, a shell at its prompt does not', async () => {
    const { terminal, reader } = openShell()
    await until(reader, /\$ $/)
    const own = async () =>
      (await agent.call('agent.activity', {})).terminals.find(({ call }) => call === terminal.id)
    expect(await own()).toMatchObject({ foreground: null })
    await type(terminal, 'sleep 1000\n')
    await until(reader, /sleep 1000\r\n/)
    await foreground(terminal, 'sleep')
    terminal.cancel()
  })

  it.each([
    ['sleep', ['sleep', '1000']],
    ['bash', ['/bin/bash', '-c', 'sleep 1000; true']],
  ])('[AGT70] a terminal that was opened for %s is busy with it', async (name, command) => {
    const terminal = agent.open('terminal.open', { command })
    await foreground(terminal, name)
    terminal.cancel()
    await terminal.result.catch(() => undefined)
  })

  it('[AGT70] running commands are named', async () => {
    const call = agent.open('command.run', { command: ['sleep', '1000'] })
    await call.messages[Symbol.asyncIterator]().next()
    expect((await agent.call('agent.activity', {})).commands).toMatchObject([
      { call: call.id, name: 'sleep' },
    ])
    call.cancel()
    await call.result.catch(() => undefined)
    expect((await agent.call('agent.activity', {})).commands).toEqual([])
  })

  it('[AGT71] usage counts the agent and what it runs, and the disk on demand', async () => {
    await agent.call(
      'files.write',
      { path: 'large', base: { kind: 'any' } },
      { body: new Uint8Array(1_000_000) },
    )
    const usage = await agent.call('agent.usage', { disk: true })
    expect(usage.disk).toMatchObject({ complete: true })
    expect(usage.disk?.bytes).toBeGreaterThanOrEqual(1_000_000)
    expect(usage.residentBytes).toBeGreaterThan(10_000_000)
    expect((await agent.call('agent.usage', {})).disk).toBeNull()
  })
})

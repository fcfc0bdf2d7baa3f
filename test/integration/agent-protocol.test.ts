import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, duplexPair } from 'node:stream'
import { createFrameDecoder, encodeFrame, type Frame } from '@atelier/contract/agent-frame'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connectAgent } from '../../packages/server/src/platform/runtime/agent-client.ts'
import { appErrorFrom } from '../../packages/server/src/platform/runtime/agent-error.ts'
import { bytes, put, shell } from './runtime-support/agent-calls.ts'
import { startAgent, startAgentPair } from './runtime-support/agent-pair.ts'

/** Writes frames by hand, as a peer that keeps to nothing. */
function rawPeer(stream: Duplex) {
  const decoder = createFrameDecoder()
  const waiting: ((frame: Frame) => void)[] = []
  const frames: Frame[] = []
  stream.on('data', (chunk: Buffer) => {
    for (const frame of decoder.push(chunk)) {
      const waiter = waiting.shift()
      if (waiter === undefined) frames.push(frame)
      else waiter(frame)
    }
  })
  return {
    send(header: unknown, payload?: Uint8Array) {
      const frame = encodeFrame(header, payload)
      stream.write(frame.head)
      if (frame.payload.length > 0) stream.write(frame.payload)
    },
    async next(): Promise<Record<string, unknown>> {
      const frame = frames.shift() ?? (await new Promise<Frame>((resolve) => waiting.push(resolve)))
      return frame.header as Record<string, unknown>
    },
  }
}

async function withAgent(
  act: (peer: ReturnType<typeof rawPeer>, stream: Duplex) => Promise<void>,
): Promise<string | null> {
  const { home, stream, ended } = startAgent()
  const peer = rawPeer(stream)
  await act(peer, stream)
  const { breach } = await ended
  rmSync(home, { recursive: true })
  return breach
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const greet = { t: 'hello', version: 1 }
const open = (id: number, op: string, params: unknown, window = 1000) => ({
  t: 'open',
  id,
  op,
  params,
  window,
})

describe('the agent', () => {
  it('[AGT2] speaks first and says what it is', async () => {
    await withAgent(async (peer, stream) => {
      expect(await peer.next()).toMatchObject({
        t: 'hello',
        versions: [1],
        agent: { epoch: '1' },
        features: { terminals: { available: true }, watcher: { available: true }, egress: false },
        recovered: 'none',
      })
      stream.end()
    })
  })

  it.each([
    ['a version it does not speak', { t: 'hello', version: 99 }],
    ['a call before the greeting', open(1, 'files.list', { path: '' })],
    ['a header that is nothing', { t: 'nonsense' }],
  ])('[AGT2] hangs up on %s', async (_name, header) => {
    expect(await withAgent(async (peer) => peer.send(header))).not.toBeNull()
  })

  it.each([
    ['an operation that does not exist', [open(1, 'files.format', {})]],
    ['a call with a number that is in use', [open(1, 'watch.start', {}), open(1, 'watch.start', {})]],
    ['a property nobody knows', [{ ...open(1, 'ports.list', {}), extra: 1 }]],
    ['a number that is none', [open(0, 'ports.list', {})]],
    ['a second greeting', [greet]],
    [
      'an event out of its schema',
      [open(1, 'terminal.open', {}), { t: 'event', id: 1, event: { kind: 'resize', cols: -1, rows: 1 } }],
    ],
    ['an event for a call that takes none', [open(1, 'watch.start', {}), { t: 'event', id: 1, event: {} }]],
  ])('[AGT3] hangs up on %s', async (_name, headers) => {
    const breach = await withAgent(async (peer) => {
      peer.send(greet)
      for (const header of headers) peer.send(header)
    })
    expect(breach).not.toBeNull()
  })

  it('[AGT3] parameters out of their schema fail that call and no other', async () => {
    const breach = await withAgent(async (peer, stream) => {
      await peer.next()
      peer.send(greet)
      peer.send(open(1, 'files.list', { path: '', depth: 0, colour: 'red' }))
      peer.send(open(2, 'ports.list', {}))
      const answers = [await peer.next(), await peer.next()]
      expect(answers).toContainEqual(expect.objectContaining({ t: 'fail', id: 1, code: 'INVALID' }))
      expect(answers).toContainEqual(expect.objectContaining({ t: 'result', id: 2 }))
      stream.end()
    })
    expect(breach).toBeNull()
  })

  it('[AGT4] hangs up on a sender who does not wait for its grants', async () => {
    const breach = await withAgent(async (peer) => {
      peer.send(greet)
      // Nothing is read from the upload: the command does not look at its input.
      peer.send(open(1, 'command.run', { command: ['sleep', '100'] }))
      for (let count = 0; count < 40; count += 1) peer.send({ t: 'data', id: 1 }, new Uint8Array(500_000))
    })
    expect(breach).toContain('more than granted')
  })

  it('[AGT4] sends no more than it was granted', async () => {
    await withAgent(async (peer, stream) => {
      await peer.next()
      peer.send(greet)
      peer.send(open(1, 'command.run', { command: ['yes'] }, 1))
      // The first event uses the grant up.
      expect(await peer.next()).toMatchObject({ t: 'event' })
      peer.send({ t: 'ping', nonce: 7 })
      expect(await peer.next()).toEqual({ t: 'pong', nonce: 7 })
      peer.send({ t: 'credit', id: 1, bytes: 1000 })
      expect(await peer.next()).toMatchObject({ t: 'data' })
      stream.end()
    })
  })

  it('[AGT3] survives any header there is, by answering it or by hanging up', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc.record({
              t: fc.constantFrom('data', 'event', 'credit', 'end', 'cancel', 'open'),
              id: fc.integer(),
            }),
          ),
          { maxLength: 5 },
        ),
        async (headers) => {
          await withAgent(async (peer, stream) => {
            peer.send(greet)
            for (const header of headers) peer.send(header)
            stream.end()
          })
        },
      ),
      { numRuns: 20 },
    )
  })

  it('[AGT6] ends with its stream, and so does what it runs', async () => {
    const { home, stream, ended } = startAgent()
    const agent = await connectAgent({ stream })
    const call = agent.open('command.run', { command: ['/bin/sh', '-c', 'echo $$; exec sleep 1000'] })
    let text = ''
    for await (const message of call.messages) {
      if (message.kind === 'data') text += Buffer.from(message.bytes).toString()
      if (text.includes('\n')) break
    }
    stream.end()
    expect(await ended).toEqual({ breach: null })
    // Killed at once; that it is gone is known when its parent, this process, has been told.
    await expect.poll(() => isAlive(Number(text))).toBe(false)
    await expect(call.result).rejects.toMatchObject({ code: expect.stringMatching(/GONE|CANCELLED/) })
    rmSync(home, { recursive: true })
  })

  it('[AGT21] gives way to a newer one', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atelier-epoch-'))
    {
      await using old = await startAgentPair({ home, epoch: 5n })
      await put(old.agent, 'a', 'by the old')
      await using young = await startAgentPair({ home, epoch: 6n })
      await expect(put(old.agent, 'a', 'late')).rejects.toMatchObject({ code: 'FENCED' })
      await expect(old.agent.call('files.delete', { path: 'a' })).rejects.toMatchObject({ code: 'FENCED' })
      await put(young.agent, 'a', 'by the young')
    }
    await expect(startAgent({ home, epoch: 5n }).ended).rejects.toMatchObject({ code: 'FENCED' })
    rmSync(home, { recursive: true })
  })
})

describe('the client', () => {
  /** A client that talks to us instead of an agent. */
  async function withClient(hello: object = {}, options: object = {}) {
    const [stream, other] = duplexPair()
    const peer = rawPeer(other)
    peer.send({
      t: 'hello',
      versions: [1],
      agent: { version: '0', node: 'v24', platform: 'x', epoch: '1', root: '/w' },
      features: {
        ripgrep: false,
        terminals: { available: true, reason: null },
        watcher: { available: true, reason: null },
        egress: false,
      },
      recovered: 'none',
      ...hello,
    })
    const client = await connectAgent({ stream, callTimeoutMs: 300, pingMs: 60_000, ...options })
    await peer.next()
    return { client, peer, other }
  }

  it('[AGT2] refuses an agent without a common version', async () => {
    await expect(withClient({ versions: [2, 3] })).rejects.toMatchObject({ code: 'GONE' })
  })

  it.each<[string, unknown[]]>([
    ['a result out of its schema', [{ t: 'result', id: 1, result: { ports: 'all' } }]],
    ['more data than granted', [{ t: 'data', id: 1 }]],
    ['an event out of its schema', [{ t: 'event', id: 1, event: {} }]],
    ['a call it never opened', [{ t: 'result', id: 77, result: {} }]],
    ['a second greeting', [{ t: 'hello', versions: [1] }]],
    ['anything else', ['boo']],
  ])('[AGT3] breaks with an agent that sends %s', async (_name, headers) => {
    const { client, peer } = await withClient()
    const call = client.call('ports.list', {})
    await peer.next()
    for (const header of headers) peer.send(header, new Uint8Array(10))
    await expect(call).rejects.toMatchObject({ code: expect.stringMatching(/GONE|INTERNAL/) })
    expect(await client.closed).toMatchObject({ kind: 'broken' })
  })

  it('[AGT5] gives up on an agent that does not answer, and asks it to stop', async () => {
    const { client, peer } = await withClient()
    const call = client.call('ports.list', {})
    call.catch(() => undefined)
    expect(await peer.next()).toMatchObject({ t: 'open', op: 'ports.list' })
    await expect(call).rejects.toMatchObject({ code: 'TIMEOUT' })
    await peer.next()
    expect(await peer.next()).toEqual({ t: 'cancel', id: 1 })
  })

  it('[AGT5] breaks with an agent that never ends what was cancelled', async () => {
    const { client } = await withClient({}, { cancelMs: 20 })
    const call = client.open('watch.start', {})
    call.cancel()
    await expect(call.result).rejects.toMatchObject({ code: 'GONE' })
    expect(await client.closed).toMatchObject({ kind: 'broken' })
  })

  it('[AGT5] a signal ends a call at once', async () => {
    const { client } = await withClient()
    const aborter = new AbortController()
    const call = client.call('ports.list', {}, { signal: aborter.signal })
    aborter.abort()
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  it('[AGT6] fails what is open when the agent has gone', async () => {
    const { client, other } = await withClient()
    const call = client.open('terminal.open', {})
    other.destroy()
    await expect(call.result).rejects.toMatchObject({ code: 'GONE' })
    await expect(call.write(bytes('x'))).rejects.toMatchObject({ code: 'GONE' })
    await expect(client.call('ports.list', {})).rejects.toMatchObject({ code: 'GONE' })
  })

  it('[AGT6] takes an agent that misses two pings for dead', async () => {
    const [stream, other] = duplexPair()
    const peer = rawPeer(other)
    const connecting = connectAgent({ stream, pingMs: 30 })
    const hello = startAgent()
    const first = rawPeer(hello.stream)
    peer.send(await first.next())
    const client = await connecting
    expect(await client.closed).toEqual({ kind: 'broken', reason: 'no answer to a ping' })
    hello.stream.end()
    await hello.ended
    rmSync(hello.home, { recursive: true })
  })

  it('[AGT4] many calls at once share one stream, and none waits for another', async () => {
    await using pair = await startAgentPair()
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        shell(pair.agent, `head -c 200000 /dev/zero | tr '\\0' '${index % 10}'`),
      ),
    )
    for (const [index, { stdout }] of answers.entries())
      expect(stdout).toBe(String(index % 10).repeat(200_000))
  })

  it('[AGT7] a refusal becomes an answer of the interface', async () => {
    await using pair = await startAgentPair()
    const error = await pair.agent.call('files.stat', { path: 'missing' }).catch((reason: unknown) => reason)
    expect(appErrorFrom(error as never)).toMatchObject({
      code: 'NOT_FOUND',
      details: { reason: 'NOT_FOUND' },
    })
  })
})

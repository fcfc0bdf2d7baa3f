import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { socket as declare, socketCloseCodes } from '@atelier/contract'
import pino from 'pino'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import type { Principal } from '../identity/principal.ts'
import { createOriginPolicy } from './origin.ts'
import { createSockets, maxSocketsPerUser, type SocketCall, type SocketOptions } from './sockets.ts'

const echo = declare({
  name: 'echo',
  path: '/echo',
  tag: 'Test',
  summary: 'Sends back what it gets',
  scope: 'sessions',
  query: z.strictObject({}),
  maxMessageBytes: 1_000,
})

const ada: Principal = { kind: 'token', userId: 'ada', sessionId: 'of ada', admin: false }

/** Sockets on a listener of their own, every caller being Ada. */
async function serve(
  changes: Partial<SocketOptions> = {},
  handler?: (call: SocketCall<typeof echo>) => void,
) {
  const sockets = createSockets({
    authenticate: async () => ada,
    redeemTicket: () => null,
    stillValid: async () => true,
    origins: createOriginPolicy({ baseUrl: undefined, host: '127.0.0.1' }),
    logger: pino({ level: 'silent' }),
    ...changes,
  })
  sockets.mount(echo, (call) => {
    call.socket.on('message', (message) => call.socket.send(message))
    handler?.(call)
  })
  const server = createServer().on('upgrade', sockets.upgrade)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const opened: WebSocket[] = []
  return {
    port,
    /** Resolves with the socket, or with the status of the refusal. */
    open(options: { autoPong?: boolean } = {}): Promise<WebSocket | number> {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${echo.path}`, options)
      opened.push(socket)
      return new Promise((resolve, reject) => {
        socket.on('open', () => resolve(socket))
        socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0))
        socket.on('error', reject)
      })
    },
    stop: () => sockets[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      for (const socket of opened) socket.on('error', () => undefined).terminate()
      await sockets[Symbol.asyncDispose]()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function closed(socket: WebSocket | number): Promise<number> {
  if (typeof socket === 'number') throw new Error(`the upgrade was answered with ${socket}`)
  return new Promise((resolve) => socket.once('close', resolve))
}

/** A frame as a client sends it, its mask being 0. */
function maskedText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 + text.length, 0, 0, 0, 0]), Buffer.from(text)])
}

it('[SOCK5] a message that is larger than the socket takes closes it with 1009', async () => {
  await using site = await serve()
  const socket = (await site.open()) as WebSocket
  const reply = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
  socket.send('x'.repeat(echo.maxMessageBytes))
  expect(await reply).toHaveLength(echo.maxMessageBytes)
  const end = closed(socket)
  socket.send('x'.repeat(echo.maxMessageBytes + 1))
  expect(await end).toBe(socketCloseCodes.tooLarge)
})

it('[SOCK6] a socket whose credential has ended closes with 4401', async () => {
  let valid = true
  await using site = await serve({ stillValid: async () => valid, checkMilliseconds: 10 })
  const end = closed(await site.open())
  valid = false
  expect(await end).toBe(socketCloseCodes.signedOut)
})

it('[SOCK6] a socket whose user may no longer do what it does closes with 4403', async () => {
  let allowed = true
  await using site = await serve({ checkMilliseconds: 10 }, ({ keepWhile }) => keepWhile(async () => allowed))
  const end = closed(await site.open())
  allowed = false
  expect(await end).toBe(socketCloseCodes.forbidden)
})

it('[SOCK6] nothing is heard any more of who does not answer the close', async () => {
  let allowed = true
  const heard: string[] = []
  await using site = await serve({ checkMilliseconds: 10 }, ({ keepWhile, socket }) => {
    keepWhile(async () => allowed)
    socket.on('message', (message) => void heard.push(String(message)))
  })
  const raw = connect(site.port, '127.0.0.1')
  raw.write(
    'GET /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
  let received = Buffer.alloc(0)
  raw
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
    })
  const ended = new Promise((resolve) => raw.once('close', resolve))
  raw.write(maskedText('before'))
  await expect.poll(() => heard).toEqual(['before'])
  allowed = false
  const closeFrame = Buffer.from([0x88, 0x02 + 'not allowed any more'.length, 0x11, 0x33])
  await expect.poll(() => received.includes(closeFrame)).toBe(true)
  raw.write(maskedText('after'))
  await ended
  expect(heard).toEqual(['before'])
})

it('[SOCK6] a check that fails closes nothing, and the next one counts', async () => {
  let answers = 0
  const stillValid = async () => {
    answers += 1
    if (answers <= 3) throw new Error('the database does not answer')
    return answers < 6
  }
  await using site = await serve({ stillValid, checkMilliseconds: 10 })
  expect(await closed(await site.open())).toBe(socketCloseCodes.signedOut)
  expect(answers).toBeGreaterThanOrEqual(6)
})

it('[SOCK7] a user has so many open sockets, and one more answers 429 until another closes', async () => {
  await using site = await serve()
  const sockets = await Promise.all(Array.from({ length: maxSocketsPerUser }, () => site.open()))
  expect(sockets.filter((socket) => typeof socket === 'number')).toEqual([])
  expect(await site.open()).toBe(429)
  const [first] = sockets as WebSocket[]
  first?.close()
  await expect.poll(async () => typeof (await site.open())).toBe('object')
})

it('[SOCK8] a peer that answers no ping is cut off, one that answers is not', async () => {
  await using site = await serve({ pingMilliseconds: 1_000 })
  const silent = closed(await site.open({ autoPong: false }))
  const lively = (await site.open()) as WebSocket
  expect(await silent).toBe(1006)
  expect(lively.readyState).toBe(WebSocket.OPEN)
})

it('[SOCK9] when the server stops, sockets close with 1001, and one that does not answer is cut off', async () => {
  await using site = await serve()
  const polite = closed(await site.open())
  const deaf = (await site.open()) as WebSocket
  deaf.pause()
  await site.stop()
  expect(await polite).toBe(socketCloseCodes.goingAway)
  expect(await site.open()).toBe(503)
})

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import type { Principal } from '../identity/principal.ts'
import { createStreamWatch, maxEventStreamsPerUser } from './stream-watch.ts'

it('[HTTP18] who leaves before their stream is let in takes none of their places', async () => {
  using watch = createStreamWatch({ stillValid: async () => true, logger: { warn: () => undefined } })
  const principal: Principal = { kind: 'cookie', userId: 'usr_a', sessionId: 'ses_a', admin: false }
  await using server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  for (let index = 0; index <= maxEventStreamsPerUser; index += 1) {
    const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const [, response] = await asked
    const left = once(response, 'close')
    socket.destroy()
    await left
    expect(() => watch.admit(principal, response)).not.toThrow()
  }
})

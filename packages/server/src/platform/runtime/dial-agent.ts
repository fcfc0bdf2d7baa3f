import { Duplex } from 'node:stream'
import type { DialTarget } from '@atelier/contract/agent-processes'
import type { AgentClient } from './agent-client.ts'

/**
 * A connection to a socket inside the sandbox's own network namespace, whose loopback is all it can reach. Resolves when it is
 * connected; rejects with AgentError, `REFUSED` where nobody listens. Each direction ends on its own and holds the
 * other side back when it is not read.
 */
export async function dialAgent(agent: AgentClient, target: DialTarget): Promise<Duplex> {
  const call = agent.open('dial', { target })
  const messages = call.messages[Symbol.asyncIterator]()
  // The first message says that it is connected; a refusal is thrown here.
  await messages.next()
  let reading = false
  let wanted = false

  async function readOn(stream: Duplex): Promise<void> {
    wanted = true
    if (reading) return
    reading = true
    try {
      // What `push` hands on may ask for more before it returns.
      while (wanted) {
        const { done, value } = await messages.next()
        if (done === true) return void stream.push(null)
        if (value.kind !== 'data') continue
        wanted = false
        if (stream.push(value.bytes)) wanted = true
      }
    } catch (error) {
      stream.destroy(error as Error)
    } finally {
      reading = false
    }
  }

  return new Duplex({
    read() {
      void readOn(this)
    },
    write(chunk: Buffer, _encoding, done) {
      call.write(chunk).then(() => done(), done)
    },
    final(done) {
      call.end()
      done()
    },
    destroy(error, done) {
      call.cancel()
      done(error)
    },
  })
}

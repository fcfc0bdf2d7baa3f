import { Duplex } from 'node:stream'
import type { PgliteThread } from './pglite-thread.ts'

/** A startup packet has no type byte, only its length. */
const startupHeader = 4
const messageHeader = 5
/** Types of the messages that make the server answer with ReadyForQuery: Query and Sync. */
const queryType = 0x51
const syncType = 0x53
const terminateType = 0x58

/**
 * What the `pg` driver takes for a socket to PostgreSQL: it collects the messages of one request, hands them to the
 * engine's thread, and gives back what the engine answers. So both engines share one driver, with its types, its
 * parameters and its errors.
 */
export class PgliteSocket extends Duplex {
  readonly #open: () => Promise<PgliteThread>
  #thread: PgliteThread | undefined
  #pending: Buffer = Buffer.alloc(0)
  /** length of the messages at the start of `#pending` that are known to be complete */
  #scanned = 0
  #started = false

  constructor(open: () => Promise<PgliteThread>) {
    super({ emitClose: true, autoDestroy: true })
    this.#open = open
  }

  /** Called by the driver with a port and host that mean nothing here. */
  connect(): this {
    this.#open().then(
      (thread) => {
        this.#thread = thread
        // An idle connection breaks too, so that the pool does not hand it out; one that is being closed just closes.
        void thread.ended.then((reason) => this.destroy(this.writableEnded ? undefined : reason))
        this.emit('connect')
      },
      (error: Error) => this.destroy(error),
    )
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#forward()
    done()
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  #forward(): void {
    for (let end = this.#nextMessage(); end !== undefined; end = this.#nextMessage()) {
      const type = this.#pending[this.#scanned]
      this.#scanned = end
      if (!this.#started) {
        this.#started = true
        this.#send('startup')
      } else if (type === queryType || type === syncType) {
        this.#send('query')
      } else if (type === terminateType) {
        this.#take()
      }
    }
  }

  /** Where the next complete message ends, `undefined` while it is not all there. */
  #nextMessage(): number | undefined {
    const available = this.#pending.length - this.#scanned
    const header = this.#started ? messageHeader : startupHeader
    if (available < header) return undefined
    const length = this.#pending.readUInt32BE(this.#scanned + header - 4) + header - 4
    return available < length ? undefined : this.#scanned + length
  }

  #take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#pending.subarray(0, this.#scanned))
    this.#pending = this.#pending.subarray(this.#scanned)
    this.#scanned = 0
    return bytes
  }

  #send(kind: 'startup' | 'query'): void {
    this.#thread?.request(kind, this.#take()).then(
      (answer) => {
        if (!this.destroyed) this.push(answer)
      },
      (error: Error) => this.destroy(error),
    )
  }
}

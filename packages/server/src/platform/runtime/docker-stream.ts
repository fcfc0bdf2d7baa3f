import { Duplex } from 'node:stream'

/** Header of the Engine API's multiplexed stream: one byte of kind, three unused, u32 big-endian length. */
const headerBytes = 8
const stdout = 1

export interface DockerStream {
  /** standard output to read, standard input to write */
  readonly stream: Duplex
  /** the last of standard error */
  lastWords(): string
}

const keptStderr = 4096

/** Divides the hijacked connection of an attached container; reading it slowly holds the container back. */
export function divideDockerStream(connection: Duplex): DockerStream {
  let words = ''
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => void connection.resume(),
    write: (chunk: Buffer, _encoding, done) => void connection.write(chunk, done),
    final: (done) => void connection.end(done),
    destroy(error, done) {
      connection.destroy()
      done(error)
    },
  })
  const take = createDemultiplexer((kind, bytes) => {
    if (kind !== stdout) words = (words + bytes.toString('utf8')).slice(-keptStderr)
    else if (!stream.push(bytes)) connection.pause()
  })
  connection.on('data', take)
  connection.once('end', () => stream.push(null))
  connection.once('error', (error) => stream.destroy(error))
  connection.once('close', () => {
    if (!stream.readableEnded) stream.push(null)
  })
  return { stream, lastWords: () => words.trim() }
}

/** Passes on what belongs together as it comes: a piece need not be whole to be useful. */
function createDemultiplexer(deliver: (kind: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  let header = Buffer.alloc(0)
  let kind = 0
  let missing = 0
  return (chunk) => {
    let rest = chunk
    while (rest.length > 0) {
      if (missing === 0) {
        const part = rest.subarray(0, headerBytes - header.length)
        header = Buffer.concat([header, part])
        rest = rest.subarray(part.length)
        if (header.length < headerBytes) return
        kind = header[0] ?? 0
        missing = header.readUInt32BE(4)
        header = Buffer.alloc(0)
      } else {
        const part = rest.subarray(0, missing)
        missing -= part.length
        rest = rest.subarray(part.length)
        deliver(kind, part)
      }
    }
  }
}

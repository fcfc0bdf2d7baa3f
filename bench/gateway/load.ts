import { Client } from 'undici'
import { percentile, round } from '../harness.ts'

export interface Load {
  url: string
  path: string
  /** headers of those who call, one for each connection in turn */
  callers: readonly Record<string, string>[]
  body: string
  connections: number
  requests: number
  /** text that a complete answer holds */
  complete: string
}

export interface LoadResult {
  requestsPerSecond: number
  /** milliseconds to the end of the answer */
  p50: number
  p99: number
  /** milliseconds to the first byte of the body */
  firstByteP50: number
  firstByteP99: number
  failed: number
}

/** A fixed number of requests over a fixed number of connections, each of which sends its next when the last has ended. */
export async function applyLoad(load: Load): Promise<LoadResult> {
  const times: number[] = []
  const firstBytes: number[] = []
  let left = load.requests
  let failed = 0

  async function work(headers: Record<string, string> | undefined): Promise<void> {
    const client = new Client(load.url)
    while (left > 0) {
      left -= 1
      const started = performance.now()
      const { statusCode, body } = await client.request({
        method: 'POST',
        path: load.path,
        headers: { 'content-type': 'application/json', ...headers },
        body: load.body,
      })
      let firstByte: number | undefined
      const chunks: Buffer[] = []
      for await (const chunk of body) {
        firstByte ??= performance.now()
        chunks.push(chunk as Buffer)
      }
      const ended = performance.now()
      times.push(ended - started)
      firstBytes.push((firstByte ?? ended) - started)
      if (statusCode !== 200 || !Buffer.concat(chunks).includes(load.complete)) failed += 1
    }
    await client.close()
  }

  const started = performance.now()
  await Promise.all(
    Array.from({ length: load.connections }, (_, index) => work(load.callers[index % load.callers.length])),
  )
  const seconds = (performance.now() - started) / 1000
  return {
    requestsPerSecond: round(times.length / seconds, 0),
    p50: round(percentile(times, 0.5)),
    p99: round(percentile(times, 0.99)),
    firstByteP50: round(percentile(firstBytes, 0.5)),
    firstByteP99: round(percentile(firstBytes, 0.99)),
    failed,
  }
}

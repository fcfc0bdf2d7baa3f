import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A provider that speaks OpenAI's chat completions and costs next to nothing: it reads the request, then sends what was
 * put together at start. The model's name says what: `json-200`, `json-10000`, `stream-64` (all at once) or
 * `stream-64-20` (64 parts, 20 ms apart). Prints its address as its first line.
 */
const usage = { prompt_tokens: 100, completion_tokens: 64, total_tokens: 164 }
const common = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench' }

function jsonAnswer(length: number): Buffer {
  const message = {
    role: 'assistant',
    content: 'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length),
  }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return Buffer.from(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
}

function streamParts(count: number): Buffer[] {
  const event = (value: object) =>
    Buffer.from(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...value })}\n\n`)
  const deltas = Array.from({ length: count }, (_, index) =>
    event({ choices: [{ index: 0, delta: { content: `word ${index} ` }, finish_reason: null }] }),
  )
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  return [...deltas, Buffer.concat([end, event({ choices: [], usage }), Buffer.from('data: [DONE]\n\n')])]
}

const answers = new Map([200, 10_000].map((length) => [`json-${length}`, jsonAnswer(length)]))
const parts = streamParts(64)
const wholeStream = Buffer.concat(parts)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => answer(Buffer.concat(chunks).toString(), response))
})

function answer(body: string, response: ServerResponse): void {
  const kind = /"content":"\[(json|stream)-(\d+)(?:-(\d+))?\]/.exec(body)
  const [, type = 'json', size = '200', pause] = kind ?? []
  if (type === 'json') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers.get(`json-${size}`))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (pause === undefined) response.end(wholeStream)
  else paced(response, Number(pause), 0)
}

function paced(response: ServerResponse, pause: number, index: number): void {
  if (response.destroyed) return
  response.write(parts[index])
  if (index === parts.length - 1) response.end()
  else setTimeout(paced, pause, response, pause, index + 1)
}

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

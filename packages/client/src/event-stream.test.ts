import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxEventCharacters, readEventStream, type ServerSentEvent } from './event-stream.ts'

/** A body of the given chunks; `onCancel` is told when the reader leaves. */
function bodyOf(chunks: Uint8Array[], onCancel?: () => void): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[next]
      next += 1
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: () => onCancel?.(),
  })
}

async function read(...texts: string[]): Promise<ServerSentEvent[]> {
  return Array.fromAsync(readEventStream(bodyOf(texts.map((text) => new TextEncoder().encode(text)))))
}

const message = (data: string, lastEventId = '') => ({ type: 'message', data, lastEventId })

describe('readEventStream', () => {
  test('[CLIENT2] reads data, ids, types and several data lines', async () => {
    const events = await read('id: 1\ndata: a\ndata:b\n\n', 'event: note\ndata:  c\n\n')
    expect(events).toEqual([message('a\nb', '1'), { type: 'note', data: ' c', lastEventId: '1' }])
  })

  test('[CLIENT2] passes over comments, unknown fields, and a byte order mark', async () => {
    expect(await read('\uFEFF: ping\n\nretry: 10\ndata: x\nodd\n\n:\n\n')).toEqual([message('x')])
  })

  test('[CLIENT2] drops an event that the end of the stream cuts', async () => {
    expect(await read('data: whole\n\ndata: cut\n')).toEqual([message('whole')])
  })

  test('[CLIENT2] gives an event as soon as its blank line ends with a lone CR', async () => {
    let push: (text: string) => void = () => undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (text) => controller.enqueue(new TextEncoder().encode(text))
      },
    })
    const events = readEventStream(body)
    push('data: now\r\r')
    expect((await events.next()).value).toEqual(message('now'))
    await events.return(undefined)
  })

  test('[CLIENT2] whatever the line ends and wherever the bytes are split, the events are the same', async () => {
    const data = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ' '))
    const id = fc.option(fc.stringMatching(/^[0-9a-z]{1,5}$/), { nil: undefined })
    const event = fc.record({ lines: fc.array(data, { minLength: 1, maxLength: 3 }), id })
    const cuts = fc.array(fc.nat(400), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(event),
        fc.constantFrom('\n', '\r\n', '\r'),
        cuts,
        async (events, eol, at) => {
          const bytes = new TextEncoder().encode(events.map((each) => written(each, eol)).join(''))
          expect(await Array.fromAsync(readEventStream(bodyOf(splitAt(bytes, at))))).toEqual(expected(events))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('[CLIENT3] closes the connection when the caller leaves the loop', async () => {
    let cancelled = false
    const chunk = new TextEncoder().encode('data: 1\n\ndata: 2\n\n')
    for await (const _event of readEventStream(bodyOf([chunk, chunk], () => (cancelled = true)))) break
    expect(cancelled).toBe(true)
  })

  test('[CLIENT3] refuses an event without an end instead of keeping it in memory', async () => {
    let cancelled = false
    const chunk = new Uint8Array(1024 * 1024).fill(97)
    const chunks = Array.from({ length: maxEventCharacters / chunk.length + 2 }, () => chunk)
    await expect(Array.fromAsync(readEventStream(bodyOf(chunks, () => (cancelled = true))))).rejects.toThrow(
      RangeError,
    )
    expect(cancelled).toBe(true)
  })
})

interface WrittenEvent {
  lines: string[]
  id: string | undefined
}

function written({ lines, id }: WrittenEvent, eol: string): string {
  const idLine = id === undefined ? '' : `id: ${id}${eol}`
  return `: comment${eol}${idLine}${lines.map((line) => `data: ${line}${eol}`).join('')}${eol}`
}

function expected(events: WrittenEvent[]): ServerSentEvent[] {
  let lastEventId = ''
  return events.map(({ lines, id }) => {
    lastEventId = id ?? lastEventId
    return message(lines.join('\n'), lastEventId)
  })
}

function splitAt(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, index) => bytes.slice(edges[index], end))
}

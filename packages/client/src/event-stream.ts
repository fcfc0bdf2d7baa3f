/** One dispatched server-sent event (WHATWG HTML, section 9.2.6). */
export interface ServerSentEvent {
  /** `message` where the server named none */
  type: string
  data: string
  /** the last `id:` seen so far; empty where there was none */
  lastEventId: string
}

/** Most characters of one event: beyond it the stream is refused rather than held in memory. */
export const maxEventCharacters = 16 * 1024 * 1024

/**
 * Reads a `text/event-stream` body event by event. Chunks may split anywhere, inside a character or a line end too; an
 * event that the end of the stream cuts is dropped, as the standard says. Leaving the loop cancels the body.
 * Throws RangeError for an event beyond `maxEventCharacters`, and whatever the body rejects with.
 */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const parse = createEventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let ended = false
  try {
    while (!ended) {
      const { done, value } = await reader.read()
      ended = done
      yield* parse(done ? decoder.decode() : decoder.decode(value, { stream: true }))
    }
  } finally {
    // A body that has already failed rejects its cancellation with the same error, which the caller has.
    if (!ended) await reader.cancel().catch(() => undefined)
  }
}

type EventParser = (text: string) => ServerSentEvent[]

/** A parser that keeps what a chunk leaves unfinished and returns the events that it completes. */
export function createEventParser(): EventParser {
  const takeLines = createLineSplitter()
  let type = ''
  let data: string[] = []
  let size = 0
  let lastEventId = ''

  return (text) => {
    const events: ServerSentEvent[] = []
    for (const line of takeLines(text)) {
      if (line === '') {
        if (data.length > 0) events.push({ type: type || 'message', data: data.join('\n'), lastEventId })
        type = ''
        data = []
        size = 0
        continue
      }
      const { name, value } = fieldOf(line)
      if (name === 'data') {
        size += value.length
        assertBounded(size)
        data.push(value)
      } else if (name === 'event') type = value
      else if (name === 'id' && !value.includes('\0')) lastEventId = value
    }
    return events
  }
}

/** A comment has the empty name; one space after the colon belongs to the syntax. */
function fieldOf(line: string): { name: string; value: string } {
  const colon = line.indexOf(':')
  if (colon === -1) return { name: line, value: '' }
  const start = line[colon + 1] === ' ' ? colon + 2 : colon + 1
  return { name: line.slice(0, colon), value: line.slice(start) }
}

/** Lines end with LF, CR or CRLF. A CR at the end of a chunk ends its line; an LF that then opens the next one is part of it. */
function createLineSplitter(): (text: string) => string[] {
  let rest = ''
  let endedWithCarriageReturn = false

  return (text) => {
    if (text === '') return []
    const added = endedWithCarriageReturn && text[0] === '\n' ? text.slice(1) : text
    endedWithCarriageReturn = text.endsWith('\r')
    const lines = added.split(/\r\n|\r|\n/)
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    assertBounded(rest.length)
    return lines
  }
}

function assertBounded(characters: number): void {
  if (characters > maxEventCharacters) {
    throw new RangeError(`a server-sent event has more than ${maxEventCharacters} characters`)
  }
}

import { parentPort } from 'node:worker_threads'
import type { FromScreens, ToScreens } from './screen-messages.ts'
import { createScreenModel, type ScreenModel, type ScreenSize } from './screen-model.ts'

/**
 * The thread of all screens: working off a flood of output takes a whole processor, and requests must not wait for it.
 * What is said about one screen is done in its order.
 */
interface Screen {
  readonly model: ScreenModel
  /** what has not been begun */
  readonly queue: ToScreens[]
  /** the model works off output, in its own time */
  busy: boolean
  /** position after what the model has worked off */
  seq: number
  pending: Uint8Array | null
}

const port = parentPort
if (port === null) throw new Error('this program is a worker thread')
const screens = new Map<number, Screen>()

function tell(message: FromScreens, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer)
}

function open(id: number, { cols, rows, end }: ScreenSize & { end: number }): void {
  const model = createScreenModel({
    cols,
    rows,
    onReply: (text) => tell({ kind: 'reply', id, text }),
    onTitle: (title) => tell({ kind: 'title', id, title }),
  })
  screens.set(id, { model, queue: [], busy: false, seq: end, pending: null })
}

function advance(id: number, screen: Screen): void {
  while (!screen.busy && screen.queue.length > 0) {
    const writes = takeWrites(screen.queue)
    if (writes.length > 0) write(id, screen, writes)
    else perform(id, screen, screen.queue.shift())
  }
}

/** Adjacent output is given to the model at once: each time that it begins costs it a millisecond. */
function takeWrites(queue: ToScreens[]): Extract<ToScreens, { kind: 'write' }>[] {
  const next = queue.findIndex(({ kind }) => kind !== 'write')
  return queue.splice(0, next < 0 ? queue.length : next).filter((message) => message.kind === 'write')
}

function write(id: number, screen: Screen, writes: Extract<ToScreens, { kind: 'write' }>[]): void {
  screen.busy = true
  for (const [index, { bytes, end, pending }] of writes.entries()) {
    screen.model.write(bytes, () => {
      screen.seq = end
      screen.pending = pending
      tell({ kind: 'worked', id, bytes: bytes.length })
      if (index < writes.length - 1) return
      screen.busy = false
      advance(id, screen)
    })
  }
}

function perform(id: number, screen: Screen, message: ToScreens | undefined): void {
  if (message?.kind === 'snapshot') snapshot(id, screen, message.request)
  if (message?.kind !== 'resize') return
  screen.model.resize(message)
  tell({ kind: 'resized', id })
}

function snapshot(id: number, { model, seq, pending }: Screen, request: number): void {
  const text = Buffer.from(model.snapshot())
  const bytes = new Uint8Array(text.length + (pending?.length ?? 0))
  bytes.set(text)
  if (pending) bytes.set(pending, text.length)
  tell({ kind: 'snapshot', id, request, seq, bytes, ...model.size() }, [bytes.buffer])
}

port.on('message', (message: ToScreens) => {
  const { id } = message
  if (message.kind === 'open') return open(id, message)
  const screen = screens.get(id)
  if (message.kind === 'close') {
    screens.delete(id)
    screen?.model[Symbol.dispose]()
  } else if (screen) {
    screen.queue.push(message)
    advance(id, screen)
  }
})

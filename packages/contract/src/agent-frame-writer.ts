import { encodeFrame } from './agent-frame.ts'

/** The part of a Node stream that frames are written to. */
export interface FrameSink {
  write(bytes: Uint8Array): boolean
  cork(): void
  uncork(): void
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
  readonly destroyed: boolean
  readonly writableEnded: boolean
  readonly writableNeedDrain: boolean
}

/** Puts frames on the stream, whole and in the order of the calls. */
export interface FrameWriter<Header> {
  /** Writes at once; returns the header's size. For small frames that must not wait. */
  write(header: Header, payload?: Uint8Array): number
  /** Resolves when the stream takes more, or is gone; what makes much data waits for it after each frame. */
  drained(): Promise<void>
}

export function createFrameWriter<Header>(sink: FrameSink): FrameWriter<Header> {
  let draining: Promise<void> | undefined

  return {
    write(header, payload) {
      const frame = encodeFrame(header, payload)
      if (sink.destroyed || sink.writableEnded) return frame.headerBytes
      sink.cork()
      sink.write(frame.head)
      if (frame.payload.length > 0) sink.write(frame.payload)
      sink.uncork()
      return frame.headerBytes
    },
    drained() {
      if (!sink.writableNeedDrain || sink.destroyed) return Promise.resolve()
      draining ??= new Promise<void>((resolve) => {
        const settle = () => {
          draining = undefined
          sink.off('drain', settle)
          sink.off('close', settle)
          resolve()
        }
        sink.once('drain', settle)
        // A peer that has gone never drains.
        sink.once('close', settle)
      })
      return draining
    },
  }
}

import type { ScreenSize } from './screen-model.ts'

/** What is said to the thread that holds the screens. `id` names a screen, `request` a snapshot. */
export type ToScreens =
  /** `end`: position of the output that follows */
  | ({ kind: 'open'; id: number; end: number } & ScreenSize)
  /** `end`: position after these bytes; `pending`: the sequence they end in the middle of, if they do */
  | { kind: 'write'; id: number; bytes: Uint8Array; end: number; pending: Uint8Array | null }
  | ({ kind: 'resize'; id: number } & ScreenSize)
  | { kind: 'snapshot'; id: number; request: number }
  | { kind: 'close'; id: number }

export type FromScreens =
  /** so many bytes have been worked off */
  | { kind: 'worked'; id: number; bytes: number }
  | { kind: 'resized'; id: number }
  | { kind: 'reply'; id: number; text: string }
  | { kind: 'title'; id: number; title: string }
  | ({ kind: 'snapshot'; id: number; request: number; seq: number; bytes: Uint8Array } & ScreenSize)

import { expect, it } from 'vitest'
import { createTerminalInput } from './terminal-input.ts'

/** A program that reads when it is told to. */
function createProgram() {
  const read: string[] = []
  const waiting: { bytes: Uint8Array; done: () => void }[] = []
  let now = 0
  let interrupts = 0
  const input = createTerminalInput({
    write: (bytes) => new Promise((resolve) => waiting.push({ bytes, done: resolve })),
    interrupt: () => {
      interrupts += 1
    },
    clock: () => now,
  })
  return {
    input,
    read,
    interrupts: () => interrupts,
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    async take() {
      const next = waiting.shift()
      if (!next) return
      read.push(Buffer.from(next.bytes).toString())
      next.done()
      // The next piece is offered once this one is known to be taken.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const bytes = (text: string) => Buffer.from(text)

it('[TERM17] what is typed arrives in order', async () => {
  const program = createProgram()
  for (const text of ['one', 'two', 'three']) program.input.type(bytes(text))
  for (let count = 0; count < 3; count += 1) await program.take()
  expect(program.read).toEqual(['one', 'two', 'three'])
})

it('[TERM17] who types ahead of a program waits until it has read', async () => {
  const program = createProgram()
  const paste = 'x'.repeat(60 * 1024)
  for (let count = 0; count < 4; count += 1) expect(program.input.type(bytes(paste))).toBeUndefined()
  let hasRoom = false
  const room = program.input.type(bytes(paste))?.then(() => {
    hasRoom = true
  })
  for (let count = 0; count < 3; count += 1) await program.take()
  expect(hasRoom).toBe(false)
  await program.take()
  await room
  expect(hasRoom).toBe(true)
})

it('[TERM17] Ctrl-C passes what a program does not read, and drops it', async () => {
  const program = createProgram()
  for (const text of ['a', 'b', 'c']) program.input.type(bytes(text))
  program.pass(2_000)
  program.input.type(bytes('\x03'))
  expect(program.interrupts()).toBe(1)
  for (let count = 0; count < 4; count += 1) await program.take()
  expect(program.read).toEqual(['a'])
})

it('[TERM17] Ctrl-C to a program that reads is a character like any other', async () => {
  const program = createProgram()
  program.input.type(bytes('a'))
  program.input.type(bytes('\x03'))
  await program.take()
  await program.take()
  expect(program.read).toEqual(['a', '\x03'])
  expect(program.interrupts()).toBe(0)
})

it('[TERM8] answers that nobody reads are not kept', async () => {
  const program = createProgram()
  for (let count = 0; count < 1_000; count += 1) program.input.answer(bytes('\x1b[24;80R'.repeat(50)))
  expect(program.input.peak()).toBeLessThanOrEqual(64 * 1024)
})

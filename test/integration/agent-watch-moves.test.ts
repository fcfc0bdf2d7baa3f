import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WatchEvent } from '@atelier/contract/agent-processes'
import { afterAll, beforeAll, it } from 'vitest'
import { put } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

let pair: AgentPair
beforeAll(async () => {
  pair = await startAgentPair()
})
afterAll(() => pair[Symbol.asyncDispose]())

/** Reads events until one satisfies `found`. */
async function watching() {
  const call = pair.agent.open('watch.start', {})
  const reader = call.messages[Symbol.asyncIterator]()
  return {
    stop: () => call.cancel(),
    async until(found: (event: WatchEvent) => boolean): Promise<void> {
      for (;;) {
        const { value } = await reader.next()
        if (value?.kind !== 'event') throw new Error('the watch has ended')
        if (found(value.event)) return
      }
    },
  }
}

const names = (path: string) => (event: WatchEvent) =>
  event.kind === 'changes' && event.changes.some((change) => change.path === path)
const lost = (event: WatchEvent) => event.kind === 'changes' && event.overflow

it.each([
  ['has been moved', () => renameSync(join(pair.root, 'old'), join(pair.root, 'new'))],
  ['has appeared at once', () => mkdirSync(join(pair.root, 'new2/inner'), { recursive: true })],
])('[AGT33] a directory that %s with directories in it is watched to its depths', async (how, appear) => {
  await put(pair.agent, 'old/inner/file.txt', 'one')
  const watch = await watching()
  await watch.until((event) => event.kind === 'state')
  appear()
  // Whoever listens reads anew, and from then on hears of everything under its present name.
  await watch.until(lost)
  const directory = how === 'has been moved' ? 'new' : 'new2'
  writeFileSync(join(pair.root, directory, 'inner/file.txt'), 'two')
  await watch.until(names(`${directory}/inner/file.txt`))
  watch.stop()
})

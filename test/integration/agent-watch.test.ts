import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WatchEvent } from '@atelier/contract/agent-processes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkspace } from '../../packages/agent/src/files/workspace.ts'
import type { NativeWatcher } from '../../packages/agent/src/watching/native-watcher.ts'
import { createWatchHub } from '../../packages/agent/src/watching/watch-hub.ts'
import type { AgentCall } from '../../packages/server/src/platform/runtime/agent-call.ts'
import { put } from './runtime-support/agent-calls.ts'
import { type AgentPair, startAgentPair } from './runtime-support/agent-pair.ts'

let pair: AgentPair
let agent: AgentPair['agent']
beforeAll(async () => {
  pair = await startAgentPair()
  agent = pair.agent
})
afterAll(() => pair[Symbol.asyncDispose]())

type Watch = AgentCall<'watch.start'>

/** Starts watching and waits until it does. */
async function watching(
  params: object = {},
  window?: number,
): Promise<{ call: Watch; next: () => Promise<WatchEvent> }> {
  const call = agent.open('watch.start', params, { window })
  const reader = call.messages[Symbol.asyncIterator]()
  const next = async () => {
    const { value } = await reader.next()
    if (value?.kind !== 'event') throw new Error('the watch has ended')
    return value.event
  }
  expect(await next()).toEqual({ kind: 'state', mode: 'native', reason: null })
  return { call, next }
}

/** Gathers changes until all of `paths` have been seen. */
async function gather(next: () => Promise<WatchEvent>, paths: string[]): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  while (!paths.every((path) => seen.has(path))) {
    const event = await next()
    if (event.kind === 'changes') for (const { path, type } of event.changes) seen.set(path, type)
  }
  return seen
}

describe('watching', () => {
  it('[AGT30] reports what is created, changed and deleted, whoever does it', async () => {
    const { call, next } = await watching()
    await put(agent, 'a/b.txt', 'one')
    await gather(next, ['a', 'a/b.txt'])
    writeFileSync(join(pair.root, 'a/b.txt'), 'two')
    expect((await gather(next, ['a/b.txt'])).get('a/b.txt')).toBe('update')
    rmSync(join(pair.root, 'a'), { recursive: true })
    expect((await gather(next, ['a/b.txt'])).get('a/b.txt')).toBe('delete')
    call.cancel()
    await expect(call.result).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  it('[AGT30] leaves out what programs make, what the caller ignores, and what links lead to', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'atelier-outside-'))
    symlinkSync(outside, join(pair.root, 'outside'))
    const { call, next } = await watching({ ignore: ['*.log'] })
    for (const path of [
      'node_modules/x/index.js',
      '.git/HEAD',
      'deep/node_modules/y',
      'a.log',
      'outside/z',
    ]) {
      mkdirSync(join(pair.root, path, '..'), { recursive: true })
      writeFileSync(join(pair.root, path), '')
    }
    await put(agent, 'last.txt', '')
    const seen = await gather(next, ['last.txt'])
    expect([...seen.keys()].toSorted()).toEqual(['deep', 'last.txt'])
    call.cancel()
    rmSync(outside, { recursive: true })
  })

  it('[AGT31] keeps what a slow listener has missed, merged by path', async () => {
    const { call, next } = await watching({}, 1)
    const other = await watching()
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 300; index += 1) writeFileSync(join(pair.root, `f${index}`), `${round}`)
      writeFileSync(join(pair.root, `round${round}`), '')
      await gather(other.next, [`round${round}`])
    }
    const paths = Array.from({ length: 300 }, (_, index) => `f${index}`)
    expect([...(await gather(next, paths)).keys()]).toEqual(expect.arrayContaining(paths))
    call.cancel()
    other.call.cancel()
  })

  it('[AGT31] tells a listener that has missed too much to read anew', async () => {
    const { call, next } = await watching({}, 1)
    mkdirSync(join(pair.root, 'many'))
    for (let index = 0; index < 25_000; index += 1) writeFileSync(join(pair.root, `many/f${index}`), '')
    let overflow = false
    while (!overflow) {
      const event = await next()
      overflow = event.kind === 'changes' && event.overflow
    }
    call.cancel()
  })
})

describe('watching without the kernel', () => {
  const refusing: NativeWatcher = {
    subscribe: () => Promise.reject(new Error('inotify_add_watch: no space left on device')),
    unsubscribe: () => Promise.resolve(),
  }

  it('[AGT32] compares every few seconds, and says so and why', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atelier-poll-'))
    using workspace = await openWorkspace({
      rootPath: join(home, 'w'),
      statePath: join(home, 's'),
      epoch: 1n,
    })
    const hub = createWatchHub({ workspace, native: refusing })
    const changed = Promise.withResolvers<unknown>()
    const states: unknown[] = []
    const remove = await hub.add({
      state: (state) => states.push(state),
      changes: changed.resolve,
      lost: () => undefined,
    })
    expect(states).toEqual([
      { kind: 'state', mode: 'polling', reason: 'inotify_add_watch: no space left on device' },
    ])
    writeFileSync(join(home, 'w/new.txt'), '')
    expect(await changed.promise).toEqual([{ path: 'new.txt', type: 'create' }])
    await remove()
    expect(hub.count()).toBe(0)
    expect(existsSync(join(home, 'w/new.txt'))).toBe(true)
    rmSync(home, { recursive: true })
  })

  it('[AGT32] takes over when the kernel gives up later, and says that changes were lost', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atelier-poll-'))
    using workspace = await openWorkspace({
      rootPath: join(home, 'w'),
      statePath: join(home, 's'),
      epoch: 1n,
    })
    let fail: ((error: Error | null, events: []) => void) | undefined
    const breaking: NativeWatcher = {
      subscribe: async (_directory, listener) => {
        fail = listener as typeof fail
      },
      unsubscribe: () => Promise.resolve(),
    }
    const hub = createWatchHub({ workspace, native: breaking })
    const lost = Promise.withResolvers<void>()
    const modes: string[] = []
    const remove = await hub.add({
      state: ({ mode }) => modes.push(mode),
      changes: () => undefined,
      lost: lost.resolve,
    })
    fail?.(new Error('queue overflow'), [])
    await lost.promise
    expect(modes).toEqual(['native', 'polling'])
    await remove()
    rmSync(home, { recursive: true })
  })
})

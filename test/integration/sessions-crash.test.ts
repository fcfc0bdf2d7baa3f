import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@atelier/client'
import { createFile, createWorkspace, getWorkspaceStatus, readFiles, startWorkspace } from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DockerDaemon, startDockerDaemon } from './runtime-support/docker-daemon.ts'
import { isolatingRuntimes } from './runtime-support/runtimes.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { openTerminal, sessionOf } from './session-site.ts'

const isRoot = process.getuid?.() === 0

describe.each(isolatingRuntimes)('a workspace on the runtime $kind', ({ kind, missing }) => {
  const skip = missing !== undefined || !isRoot
  const dataDirectory = mkdtempSync(join(tmpdir(), 'atelier-session-'))
  let daemon: DockerDaemon | undefined
  let server: ServerProcess
  let ada: Person
  let place: ReturnType<typeof sessionOf>

  beforeAll(async () => {
    if (skip) return
    if (kind === 'docker') daemon = await startDockerDaemon()
    server = await start()
    ada = await signUpPerson(server.url)
    const { id } = await api().call(createWorkspace, { body: { name: 'Crash' } })
    place = sessionOf(id, api, dataDirectory)
  }, 120_000)
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await daemon?.[Symbol.asyncDispose]()
    rmSync(dataDirectory, { recursive: true, force: true })
  })

  function start(): Promise<ServerProcess> {
    return startServerProcess({
      ATELIER_DATA_DIR: dataDirectory,
      ATELIER_RUNTIME: kind,
      ...(daemon ? { ATELIER_DOCKER_IMAGE: daemon.image, ATELIER_DOCKER_SOCKET: daemon.socketPath } : {}),
    })
  }
  /** The sign-in outlives the process, like everything that was acknowledged. */
  const headers = () => ({ cookie: ada.cookie, origin: server.url })
  const api = () => createClient({ baseUrl: server.url, headers: headers() })
  const contentOf = async (path: string) => {
    const file = await api().call(readFiles, { query: { workspaceId: place.workspaceId, path } })
    return file.kind === 'file' ? file.content : expect.unreachable('a directory')
  }
  /** The number of this start, as the agent was told it. */
  const epoch = () => {
    const [pid] = place.pidsOfAgent()
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
    return Number(words[words.indexOf('--epoch') + 1])
  }
  const attempt = (name: string, act: () => Promise<void>) => it.skipIf(skip)(name, act, 120_000)

  attempt(
    '[SESS6] an agent that is killed is seen, leaves nothing, and starts again with its files',
    async () => {
      const { workspaceId } = place
      await api().call(createFile, { body: { workspaceId, path: 'kept', content: 'kept' } })
      const terminal = await openTerminal(server.url, { workspaceId, person: { ...ada, headers: headers() } })
      terminal.type('trap "" HUP TERM; setsid sleep 1000 & sleep 1000\n')
      await expect.poll(() => place.processes()).toBeGreaterThan(3)
      for (const pid of place.pidsOfAgent()) process.kill(pid, 'SIGKILL')
      await place.becomes('failed')
      expect(await place.status()).toMatchObject({
        desired: 'running',
        reason: expect.stringContaining('the agent is gone'),
      })
      await expect.poll(() => place.processes()).toBe(0)
      await expect.poll(terminal.closed).not.toBeNull()
      expect(await contentOf('kept')).toBe('kept')
      expect((await place.status()).state).toBe('running')
    },
  )

  attempt(
    '[SESS7][SESS8] of a server that is killed nothing stays; the next starts it under a higher number',
    async () => {
      await place.start()
      const before = epoch()
      expect(before).toBeGreaterThan(1)
      await openTerminal(server.url, {
        workspaceId: place.workspaceId,
        person: { ...ada, headers: headers() },
        command: ['/bin/bash', '-c', 'trap "" HUP TERM; setsid sleep 1000 & sleep 1000'],
      })
      await expect.poll(() => place.processes()).toBeGreaterThan(3)
      await server.kill()
      await expect.poll(() => place.processes()).toBe(0)
      server = await start()
      expect(await api().call(getWorkspaceStatus, place.params)).toMatchObject({
        desired: 'stopped',
        state: 'stopped',
      })
      expect((await api().call(startWorkspace, place.params)).state).toBe('running')
      expect(await contentOf('kept')).toBe('kept')
      expect(epoch()).toBeGreaterThan(before)
    },
  )

  attempt('[SESS7] a server that is stopped takes its sandboxes along', async () => {
    await place.start()
    expect(place.processes()).toBeGreaterThan(0)
    expect(await server.stop()).toBe(0)
    await expect.poll(() => place.processes()).toBe(0)
    server = await start()
  })
})

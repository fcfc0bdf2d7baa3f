import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@atelier/client'
import {
  closeTerminal,
  createWorkspace,
  listTerminals,
  socketCloseCodes,
  terminalFlow,
} from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ContentSite, startContentSite } from './content-site.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import { startServerProcess } from './server-process.ts'
import { findTerminal, openTerminal, patient, said, view } from './terminal-viewer.ts'

const missing = noBubblewrap()
if (missing !== undefined) console.warn(`terminals under load are not tested: ${missing}`)

const mebibyte = 1024 * 1024
const logMebibytes = 256
/** As TERM13 and TERM16 promise, and one message more. */
const mostUnacknowledged = terminalFlow.highBytes + 64 * 1024
const mostBehind = 384 * 1024

describe.skipIf(missing !== undefined)('terminals under load', { timeout: 600_000 }, () => {
  let site: ContentSite
  let owner: Person
  let workspaceId: string

  beforeAll(async () => {
    site = await startContentSite({ codeServerDirectory: '/nowhere' })
    owner = await signUpPerson(site.url)
    workspaceId = await site.makeWorkspace(owner)
  }, 120_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  const open = (script: string) =>
    openTerminal(site.url, owner, { workspaceId, command: ['bash', '-c', script] })
  const peaks = (id: string) => site.terminals.get(id).peaks()
  const close = (person: Person, id: string) =>
    createClient({ baseUrl: site.url, headers: person.headers }).call(closeTerminal, { query: { id } })

  it('[TERM3] 200 terminals of four people work at once, and each shows its own', async () => {
    const people = [owner, ...(await Promise.all([1, 2, 3].map(() => signUpPerson(site.url))))]
    const terminals = await Promise.all(
      people.map(async (person, at) => {
        const own = at === 0 ? workspaceId : await site.makeWorkspace(person)
        const made: { person: Person; id: string; mark: string }[] = []
        for (let count = 0; count < 50; count += 1) {
          const mark = `mark-${at}-${count}`
          const command = ['bash', '-c', `seq 1 200; echo ${mark}; read line; echo "$line of ${mark}"`]
          made.push({
            person,
            mark,
            id: (await openTerminal(site.url, person, { workspaceId: own, command })).id,
          })
        }
        return made
      }),
    )
    const all = terminals.flat().map((each) => ({ ...each, viewer: view(site.url, each.person, each.id) }))
    expect(all).toHaveLength(200)
    for (const { viewer, mark } of all) await said(viewer, `${mark}\r\n`)
    for (const { viewer } of all) viewer.type('an answer\n')
    for (const { viewer, mark } of all) {
      await expect.poll(() => viewer.exit(), patient).toMatchObject({ exitCode: 0 })
      expect(viewer.text()).toContain(`an answer of ${mark}`)
      expect(
        viewer
          .text()
          .match(/mark-\d+-\d+/g)
          ?.every((each) => each === mark),
      ).toBe(true)
    }
    for (const { person, id } of all) await close(person, id)
  })

  it('[TERM16] a log of hundreds of megabytes passes through bounded memory, to its last byte', async () => {
    const { id } = await open(
      `yes 'a line of a log that does not end' | head -c ${logMebibytes * mebibyte}; echo; echo the end`,
    )
    const viewer = view(site.url, owner, id)
    await expect.poll(() => viewer.exit(), { ...patient, timeout: 500_000 }).toMatchObject({ exitCode: 0 })
    expect(viewer.text().endsWith('the end\r\n')).toBe(true)
    // The terminal ends lines with a carriage return as well, and says which bytes it left out by their position.
    expect(viewer.seq()).toBeGreaterThan(logMebibytes * mebibyte)
    expect(peaks(id).screenBacklog).toBeLessThanOrEqual(mostBehind)
    expect(peaks(id).unacknowledged).toBeLessThanOrEqual(mostUnacknowledged)
    await close(owner, id)
  })

  it('[TERM14] [TERM15] a viewer that stops reading slows nobody, is given no more than it may have, and is cut off', async () => {
    const { id } = await open(`yes 'on and on' | head -c ${32 * mebibyte}; echo; echo the end; cat`)
    const stuck = view(site.url, owner, id, { acknowledge: false })
    await expect.poll(() => stuck.received(), patient).toBeGreaterThan(0)
    stuck.stopReading()
    const reader = view(site.url, owner, id)
    await said(reader, 'the end')
    expect(stuck.received()).toBeLessThanOrEqual(mostUnacknowledged)
    expect(peaks(id).unacknowledged).toBeLessThanOrEqual(mostUnacknowledged)

    site.pass(31_000)
    site.terminals.sweep()
    stuck.goOn()
    await expect.poll(() => stuck.closed()?.code, patient).toBe(socketCloseCodes.tooSlow)
    const back = view(site.url, owner, id, { seq: stuck.seq() })
    await said(back, 'the end')
    expect(back.received()).toBeLessThanOrEqual(mebibyte)
    await close(owner, id)
  })

  it('[TERM13] one that acknowledges late goes on where it stopped, or with a snapshot, and ends with the same', async () => {
    const { id } = await open(`seq 1 400000; echo the end; cat`)
    const late = view(site.url, owner, id, { acknowledge: false })
    const reader = view(site.url, owner, id)
    await said(reader, 'the end')
    let acknowledged = 0
    await expect
      .poll(() => {
        const bytes = late.received() - acknowledged
        acknowledged += bytes
        late.send({ type: 'ack', bytes })
        return late.text()
      }, patient)
      .toContain('the end')
    await expect.poll(() => late.seq(), patient).toBe(reader.seq())
    await close(owner, id)
  })

  it('[TERM14] where all have fallen behind the program waits, and where nobody looks it runs on', async () => {
    const { id } = await open('seq 1 3000000; echo the end; cat')
    const slow = view(site.url, owner, id, { acknowledge: false })
    await expect.poll(() => slow.received(), patient).toBeGreaterThan(terminalFlow.highBytes - 64 * 1024)
    const { viewers } = (await findTerminal(site.url, owner, id)) ?? {}
    expect(viewers).toBe(1)
    expect(slow.text()).not.toContain('the end')
    slow.close()
    await expect.poll(async () => (await findTerminal(site.url, owner, id))?.viewers, patient).toBe(0)
    const after = view(site.url, owner, id)
    await said(after, 'the end')
    await close(owner, id)
  })
})

describe.skipIf(missing !== undefined)('terminals of a server that is killed', { timeout: 240_000 }, () => {
  it('[TERM5] after kill -9 its terminals are gone, and whoever comes back is told so', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'atelier-terminals-'))
    const environment = { ATELIER_DATA_DIR: dataDirectory }
    try {
      const first = await startServerProcess(environment)
      const person = await signUpPerson(first.url)
      const api = createClient({ baseUrl: first.url, headers: person.headers })
      const { id: workspaceId } = await api.call(createWorkspace, { body: { name: 'Killed' } })
      const { id } = await openTerminal(first.url, person, { workspaceId })
      const viewer = view(first.url, person, id)
      await said(viewer, '$ ')
      await first.kill()
      await expect.poll(() => viewer.closed()?.code, patient).toBe(1006)
      expect(viewer.exit()).toBeUndefined()

      await using second = await startServerProcess(environment)
      const again = createClient({ baseUrl: second.url, headers: { ...person.headers, origin: second.url } })
      expect((await again.call(listTerminals, { query: { workspaceId } })).items).toEqual([])
      const moved = { ...person, headers: { ...person.headers, origin: second.url } }
      const late = view(second.url, moved, id, { seq: viewer.seq() })
      await expect.poll(() => late.closed()?.code, patient).toBe(socketCloseCodes.gone)
      const fresh = await openTerminal(second.url, moved, { workspaceId })
      await said(view(second.url, moved, fresh.id), '$ ')
    } finally {
      await rm(dataDirectory, { recursive: true, force: true })
    }
  })
})

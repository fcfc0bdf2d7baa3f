import type { Worker } from 'node:worker_threads'
import { createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  closeTerminal,
  createTerminal,
  listTerminals,
  socketCloseCodes,
  terminalFlow,
  terminalLimits,
} from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantWorkspaceScope } from '../../packages/server/src/platform/identity/workspace-scope.ts'
import { type ContentSite, startContentSite } from './content-site.ts'
import { noBubblewrap } from './runtime-support/runtimes.ts'
import {
  findTerminal,
  openTerminal,
  patient,
  said,
  type Viewer,
  view,
  viewAsPage,
} from './terminal-viewer.ts'

const missing = noBubblewrap()
if (missing !== undefined) console.warn(`terminals are not tested: ${missing}`)

const ctrlC = '\x03'
const ctrlZ = '\x1a'

describe.skipIf(missing !== undefined)('terminals in a sandbox', { timeout: 240_000 }, () => {
  let site: ContentSite
  let owner: Person
  let editor: Person
  let onlooker: Person
  let stranger: Person
  let workspaceId: string
  /** the thread that holds the screens: the only one that starts with a terminal */
  let screens: Worker | undefined

  beforeAll(async () => {
    site = await startContentSite({ codeServerDirectory: '/nowhere' })
    process.once('worker', (worker) => {
      screens = worker
    })
    ;[owner, editor, onlooker, stranger] = [
      await signUpPerson(site.url),
      await signUpPerson(site.url),
      await signUpPerson(site.url),
      await signUpPerson(site.url),
    ]
    workspaceId = await site.makeWorkspace(owner)
    const members = [
      { email: editor.email, role: 'editor' },
      { email: onlooker.email, role: 'viewer' },
    ] as const
    for (const body of members) await apiOf(owner).call(addWorkspaceMember, { params: { workspaceId }, body })
  }, 120_000)
  afterAll(() => site?.[Symbol.asyncDispose]())

  const apiOf = (person: Person) =>
    createClient({ baseUrl: site.url, headers: person.headers, validateAnswers: true })
  const open = (command?: string[], size: { cols?: number; rows?: number } = {}) =>
    openTerminal(site.url, owner, { workspaceId, ...(command ? { command } : {}), ...size })
  const look = (id: string, person = owner, options = {}) => view(site.url, person, id, options)
  const close = (id: string) => apiOf(owner).call(closeTerminal, { query: { id } })

  /** A shell that a viewer can type into. */
  async function shell(): Promise<{ id: string; viewer: Viewer }> {
    const { id } = await open()
    const viewer = look(id)
    await said(viewer, '$ ')
    return { id, viewer }
  }

  it('[TERM1] a terminal runs a command or the login shell in a directory of the workspace', async () => {
    const made = await open(['sh', '-c', 'mkdir -p deep; pwd; stty size'], { cols: 100, rows: 30 })
    expect(made).toMatchObject({ workspaceId, cwd: '', cols: 100, rows: 30, exit: null, title: '' })
    const viewer = look(made.id)
    await said(viewer, '/home/user/workspace\r\n30 100\r\n')
    const inside = await openTerminal(site.url, owner, { workspaceId, cwd: 'deep' })
    const shellViewer = look(inside.id)
    await said(shellViewer, '~/workspace/deep$ ')
    shellViewer.type('node --version && npm --version\n')
    await expect.poll(() => shellViewer.text(), patient).toMatch(/v\d+\.\d+\.\d+\r\n\d+\.\d+\.\d+\r\n/)
    await close(inside.id)
  })

  it('[TERM2] editors and owners have its terminals; a viewer is refused, and for others there are none', async () => {
    const { id } = await open(['sleep', '1000'])
    expect((await findTerminal(site.url, editor, id))?.id).toBe(id)
    const refused: [Person, string, number][] = [
      [onlooker, 'FORBIDDEN', socketCloseCodes.forbidden],
      [stranger, 'NOT_FOUND', socketCloseCodes.gone],
    ]
    for (const [person, code, closeCode] of refused) {
      const api = apiOf(person)
      await expect(api.call(createTerminal, { body: { workspaceId } })).rejects.toMatchObject({ code })
      await expect(api.call(listTerminals, { query: { workspaceId } })).rejects.toMatchObject({ code })
      await expect(api.call(closeTerminal, { query: { id } })).rejects.toMatchObject({ code })
      const viewer = look(id, person)
      await expect.poll(() => viewer.closed()?.code, patient).toBe(closeCode)
      expect(viewer.received()).toBe(0)
    }
    await apiOf(editor).call(closeTerminal, { query: { id } })
    await expect(findTerminal(site.url, owner, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('[TERM10] in 50 runs the end comes after the last byte, with the exit code', async () => {
    for (let run = 0; run < 50; run += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const code = run + index
          const script = `head -c 20000 /dev/zero | tr '\\0' x; printf 'the end'; exit ${code}`
          const { id } = await open(['sh', '-c', script])
          const viewer = look(id)
          await expect.poll(() => viewer.closed(), patient).toMatchObject({ code: socketCloseCodes.done })
          expect(viewer.text().endsWith('xthe end')).toBe(true)
          expect(viewer.exit()).toMatchObject({
            exitCode: code,
            signal: null,
            reason: null,
            received: 20_007,
          })
          await close(id)
        }),
      )
    }
  })

  it('[TERM10] a program that a signal ends is said to be', async () => {
    const { id } = await open(['sh', '-c', 'kill -KILL $$'])
    const viewer = look(id)
    await expect.poll(() => viewer.exit(), patient).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    await close(id)
  })

  it('[TERM18] Ctrl-Z, jobs, fg, bg and Ctrl-C work, and a program is told of its size', async () => {
    const { id, viewer } = await shell()
    // Ctrl-Z and Ctrl-C drop what is typed ahead: each is typed when the program before it runs.
    const job = `trap 'echo inter""rupted; exit 7' INT; echo star""ted; while :; do sleep 0.1; done`
    viewer.type(`bash -c "${job.replaceAll('"', '\\"')}"\n`)
    await said(viewer, 'started')
    viewer.type(ctrlZ)
    await said(viewer, 'Stopped')
    viewer.type('bg; jobs\n')
    await said(viewer, 'Running')
    viewer.type('fg; echo code $?\n')
    await expect.poll(() => viewer.text(), patient).toMatch(/code \$\?\s+bash -c/)
    // The shell names a job just before it is in the foreground.
    const interrupt = () => {
      viewer.type(ctrlC)
      return viewer.text()
    }
    await expect.poll(interrupt, patient).toContain('interrupted')
    await said(viewer, 'code 7')
    const say = () => {
      viewer.type('echo ne""xt\n')
      return viewer.text()
    }
    await expect.poll(say, patient).toContain('next')
    viewer.type('trap \'stty size\' WINCH; echo rea""dy\n')
    await said(viewer, 'ready')
    viewer.send({ type: 'resize', cols: 132, rows: 43 })
    viewer.type('stty size\n')
    await said(viewer, '43 132')
    await close(id)
  })

  it('[TERM11] one of several viewers types and sets the size; the others see the same and can take over', async () => {
    const { id, viewer: first } = await shell()
    const second = look(id, editor)
    await said(second, '$ ')
    await expect.poll(() => [first.role(), second.role()], patient).toEqual(['writer', 'viewer'])

    second.type('echo no\n')
    await expect
      .poll(() => second.messages.find((message) => message.type === 'error'), patient)
      .toMatchObject({ code: 'read-only' })
    second.send({ type: 'resize', cols: 20, rows: 5 })
    first.send({ type: 'resize', cols: 90, rows: 31 })
    const told = (viewer: Viewer) => viewer.messages.filter((message) => message.type === 'resize').at(-1)
    await expect.poll(() => told(second), patient).toMatchObject({ cols: 90, rows: 31 })

    second.send({ type: 'role', role: 'writer' })
    await expect.poll(() => [first.role(), second.role()], patient).toEqual(['viewer', 'writer'])
    second.type('echo se""en; stty size\n')
    for (const viewer of [first, second]) await said(viewer, 'seen\r\n31 90')
    expect(first.text()).not.toContain('echo no')

    second.close()
    await expect.poll(() => first.role(), patient).toBe('writer')
    const again = look(id)
    await expect.poll(() => [first.role(), again.role()], patient).toEqual(['viewer', 'writer'])
    await close(id)
  })

  it('[TERM3] the 17th look at a terminal is refused, and so is the 51st terminal; an exited one gives way', async () => {
    const { id } = await open(['sleep', '1000'])
    const viewers = Array.from({ length: terminalLimits.viewers }, () => look(id))
    await expect.poll(() => viewers.every((viewer) => viewer.role() !== undefined), patient).toBe(true)
    const late = look(id)
    await expect.poll(() => late.closed()?.code, patient).toBe(socketCloseCodes.policyViolation)
    await close(id)

    const many: string[] = []
    const own = await site.makeWorkspace(stranger)
    const openAs = (command: string[]) => openTerminal(site.url, stranger, { workspaceId: own, command })
    for (let count = 0; count < terminalLimits.perUser; count += 1)
      many.push((await openAs(count === 0 ? ['true'] : ['sleep', '1000'])).id)
    const [exited = ''] = many
    await expect
      .poll(async () => (await findTerminal(site.url, stranger, exited))?.state, patient)
      .toBe('exited')
    many.push((await openAs(['sleep', '1000'])).id)
    await expect(findTerminal(site.url, stranger, exited)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(openAs(['sleep', '1000'])).rejects.toMatchObject({ code: 'CONFLICT', status: 409 })
    for (const each of many.slice(1)) await apiOf(stranger).call(closeTerminal, { query: { id: each } })
  })

  it('[TERM7] who comes back near gets exactly what was missed; who comes late gets a screen that shows the same', async () => {
    const { id, viewer } = await shell()
    viewer.type('echo fir""st\n')
    await said(viewer, 'first')
    const { seq } = { seq: viewer.seq() }
    viewer.type('echo sec""ond\n')
    await said(viewer, 'second\r\n~/workspace$ ')
    const near = look(id, owner, { seq })
    await said(near, 'second\r\n~/workspace$ ')
    expect(near.text()).not.toContain('first')
    expect(near.seq()).toBe(viewer.seq())
    expect(near.received()).toBe(viewer.seq() - seq)

    near.type(`for i in $(seq 1 12000); do echo "line $i of a log that is long enough"; done\n`)
    await expect.poll(() => near.seq(), patient).toBeGreaterThan(seq + terminalFlow.tailBytes)
    await said(near, 'line 12000 of a log that is long enough\r\n~/workspace$ ')
    using page = viewAsPage(site.url, owner, id)
    using other = viewAsPage(site.url, owner, id)
    await expect.poll(() => page.screen(), patient).toContain('line 12000 of')
    await expect.poll(() => other.screen() === page.screen(), patient).toBe(true)
    expect(page.screen()).not.toContain('line 5000 of')
    await close(id)
  })

  it('[TERM7] a connection that is lost again and again ends with the same screen as one that was not', async () => {
    const { id, viewer } = await shell()
    using steady = viewAsPage(site.url, owner, id)
    using shaky = viewAsPage(site.url, editor, id)
    await expect.poll(() => shaky.connection.status().state, patient).toBe('open')
    for (let round = 1; round <= 8; round += 1) {
      viewer.send({ type: 'role', role: 'writer' })
      viewer.type(`for i in $(seq 1 300); do printf '\\e[3%dmröund ${round} %d\\e[0m\\n' $((i%8)) $i; done\n`)
      await expect.poll(() => steady.screen().includes(`röund ${round} 1`), patient).toBe(true)
      shaky.cut()
      await said(viewer, `röund ${round} 300`)
      await expect.poll(() => shaky.connection.status().state, patient).toBe('open')
    }
    await expect.poll(() => shaky.screen() === steady.screen(), patient).toBe(true)
    expect(steady.screen()).toContain('röund 8 300')
    expect(shaky.asked.slice(1).every((asked) => Number(asked) > 0)).toBe(true)
    await close(id)
  })

  it('[TERM8] a program that asks is answered once, however many look, and nobody is asked again later', async () => {
    const script = `stty raw -echo; printf '\\033[c\\033[6n'; dd bs=1 count=11 2>/dev/null | od -An -c; stty sane; printf 'done '; cat`
    const { id } = await open(['sh', '-c', script])
    using one = viewAsPage(site.url, owner, id)
    using two = viewAsPage(site.url, editor, id)
    const viewer = look(id)
    await said(viewer, 'done ')
    expect(viewer.text()).toMatch(/033\s+\[\s+\?\s+1\s+;\s+2\s+c\s+033\s+\[\s+1\s+;/)
    await expect.poll(() => one.screen() === two.screen(), patient).toBe(true)
    viewer.type('only this\n')
    await said(viewer, 'only this\r\nonly this')
    await close(id)
  })

  it('[TERM6] what is no message, and more acknowledged than sent, ends the connection alone', async () => {
    const { id, viewer } = await shell()
    const strange = look(id)
    await expect.poll(() => strange.role(), patient).toBeDefined()
    strange.sendBytes(new Uint8Array([99, 1, 2]))
    await expect.poll(() => strange.closed()?.code, patient).toBe(socketCloseCodes.policyViolation)
    const eager = look(id)
    await expect.poll(() => eager.role(), patient).toBeDefined()
    eager.send({ type: 'ack', bytes: 100_000_000 })
    await expect.poll(() => eager.closed()?.code, patient).toBe(socketCloseCodes.policyViolation)
    viewer.type('echo still he""re\n')
    await said(viewer, 'still here')
    await close(id)
  })

  it('[TERM17] Ctrl-C reaches a program that reads nothing, past what was typed ahead', async () => {
    const { id, viewer } = await shell()
    // Line by line, the kernel would take and drop any amount.
    viewer.type('stty -icanon -echo; echo de""af; exec sleep 1000\n')
    await said(viewer, 'deaf')
    // More than the agent takes in, less than keeps the client from being read.
    for (let sent = 0; sent < 6; sent += 1) viewer.type('x'.repeat(60_000))
    const interrupt = () => {
      site.pass(2_000)
      viewer.type(ctrlC)
      return viewer.exit()
    }
    await expect.poll(interrupt, patient).toMatchObject({ signal: 'SIGINT', reason: null })
    await close(id)
  })

  it('[TERM17] typing ahead is kept up to a bound, and goes on when the program reads', async () => {
    const script =
      'stty -icanon -echo; echo de""af; until [ -e go ]; do sleep 0.1; done; head -c 2400000 | wc -c'
    const { id } = await open(['bash', '-c', script])
    const viewer = look(id)
    await said(viewer, 'deaf')
    for (let sent = 0; sent < 40; sent += 1) viewer.type('x'.repeat(60_000))
    await expect.poll(() => site.terminals.get(id).peaks().input, patient).toBeGreaterThan(256 * 1024)
    const other = await open(['touch', 'go'])
    await said(viewer, '2400000')
    expect(site.terminals.get(id).peaks().input).toBeLessThanOrEqual(256 * 1024 + 64 * 1024)
    await close(other.id)
    await close(id)
  })

  it('[TERM19] a client that sends thousands of messages at once is heard in full, and holds up nobody', async () => {
    const script = 'stty -icanon -echo; echo rea""dy; head -c 20000 | wc -c'
    const { id } = await open(['bash', '-c', script])
    const viewer = look(id)
    await said(viewer, 'ready')
    for (let sent = 0; sent < 20_000; sent += 1) viewer.type('x')
    const other = await shell()
    other.viewer.type('echo mean""while\n')
    await said(other.viewer, 'meanwhile')
    await said(viewer, '20000')
    await close(id)
    await close(other.id)
  })

  it('[TERM20] terminals go on when the thread of their screens fails', async () => {
    const { id, viewer } = await shell()
    viewer.type('echo bef""ore\n')
    await said(viewer, 'before')
    await screens?.terminate()
    viewer.type('echo af""ter\n')
    await said(viewer, 'after')
    const late = look(id)
    await said(late, 'after')
    expect(screens).toBeDefined()
    await close(id)
  })

  it('[TERM4] one that nobody looks at is ended after 30 minutes; what it said is kept for 5 more', async () => {
    const { id, viewer } = await shell()
    viewer.close()
    await expect.poll(async () => (await findTerminal(site.url, owner, id))?.state, patient).toBe('detached')
    site.pass(terminalLimits.detachedMilliseconds - 60_000)
    site.terminals.sweep()
    expect((await findTerminal(site.url, owner, id))?.state).toBe('detached')
    site.pass(61_000)
    site.terminals.sweep()
    const ended = await findTerminal(site.url, owner, id)
    expect(ended).toMatchObject({ state: 'exited', exit: { exitCode: null } })
    expect(ended?.exit?.reason).toContain('30 minutes')
    const late = look(id)
    await said(late, '$ ')
    await expect.poll(() => late.closed()?.code, patient).toBe(socketCloseCodes.done)
    site.pass(terminalLimits.exitedMilliseconds + 1_000)
    site.terminals.sweep()
    await expect(findTerminal(site.url, owner, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('[TERM5] a terminal ends with its sandbox, and who looks is told why', async () => {
    const { viewer } = await shell()
    await site.sessions.stop(grantWorkspaceScope({ workspaceId, userId: null, role: 'editor' }), 'asked for')
    await expect.poll(() => viewer.exit(), patient).toMatchObject({ exitCode: null })
    expect(viewer.exit()?.reason).not.toBe('')
    await expect.poll(() => viewer.closed()?.code, patient).toBe(socketCloseCodes.done)
  })
})

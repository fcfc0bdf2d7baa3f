import { createHash } from 'node:crypto'
import { createFile, readFiles, readRawFile } from '@atelier/contract'
import type { Person } from '@atelier/testkit'
import type { Answer, LiveWorkspace } from './live-workspace.ts'
import { runIn } from './run-in-workspace.ts'

export const revisionOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')

/** The revision of no content that any test has. */
export const nowhere = 'f'.repeat(64)

/** The calls that tests about files make most; `now` says with which workspace. */
export function fileCalls(now: () => { url: string; person: Person; place: LiveWorkspace }) {
  async function list(path = '', query: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
    const { data } = await now().place.send(readFiles, { query: { path, depth: '64', ...query } })
    return data.entries as Record<string, unknown>[]
  }
  return {
    create: (path: string, content = '', more: object = {}): Promise<Answer> =>
      now().place.send(createFile, { body: { path, content, ...more } }),
    read: (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      now().place.send(readFiles, { query: { path }, headers }),
    raw: (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      now().place.send(readRawFile, { query: { path }, headers }),
    /** Runs a script in the workspace, as a terminal would. */
    shell(script: string) {
      const { url, person, place } = now()
      return runIn(url, person, { workspaceId: place.workspaceId, script })
    },
    list,
    pathsIn: async (path?: string, query?: Record<string, string>) =>
      (await list(path, query)).map((entry) => entry.path),
  }
}

import { randomUUID } from 'node:crypto'
import { createClient } from '@atelier/client'
import {
  closeTerminal,
  createFile,
  createTerminal,
  deleteFile,
  listTerminals,
  readRawFile,
} from '@atelier/contract'
import type { Person } from '@atelier/testkit'
import { expect } from 'vitest'

/** Runs a bash script in a workspace to its end, in a terminal of its own; `output` is both of its channels. */
export async function runIn(
  url: string,
  person: Person,
  { workspaceId, script, input }: { workspaceId: string; script: string; input?: string },
): Promise<{ stdout: string; exitCode: number | null }> {
  const api = createClient({ baseUrl: url, headers: person.headers })
  const directory = `.run-${randomUUID()}`
  const path = `${directory}/out`
  await api.call(createFile, { body: { workspaceId, path: `${directory}/in`, content: input ?? '' } })
  const command = ['/bin/bash', '-c', `( ${script}\n ) < ${directory}/in > ${path} 2>&1`]
  const { id } = await api.call(createTerminal, { body: { workspaceId, command } })
  const find = async () => {
    const { items } = await api.call(listTerminals, { query: { id } })
    return items[0]
  }
  await expect.poll(async () => (await find())?.state, { timeout: 60_000 }).toBe('exited')
  const exitCode = (await find())?.exit?.exitCode ?? null
  const stdout = await (await api.raw(readRawFile, { query: { workspaceId, path } })).text()
  await api.call(closeTerminal, { query: { id } })
  await api.call(deleteFile, { query: { workspaceId, path: directory, recursive: 'true' } })
  return { stdout, exitCode }
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchOperation } from '@atelier/contract/agent-files'
import type { AgentClient } from '../../../packages/server/src/platform/runtime/agent-client.ts'
import { bytes } from './agent-calls.ts'

const batchPaths = Array.from({ length: 30 }, (_, at) => `batch/d${at % 5}/f${at}`)

/** Content that says its version on every line, so that a mixture of two shows. */
const textOf = (version: number, lines: number) => `${String(version).padStart(9, '0')}\n`.repeat(lines)
const fileLines = 60_000
const batchLines = 50

/** Writes one version after the other, as a file and as a batch of files, until the agent is gone. */
export async function writeVersions(
  agent: AgentClient,
  { first, acknowledged }: { first: number; acknowledged(version: number): void },
): Promise<never> {
  for (let version = first; ; version += 1) {
    const body = bytes(textOf(version, fileLines))
    await agent.call('files.write', { path: 'file', base: { kind: 'any' } }, { body })
    const content = bytes(textOf(version, batchLines))
    await agent.call(
      'files.batch',
      {
        operations: batchPaths.map(
          (path): BatchOperation => ({
            op: 'write',
            path,
            base: { kind: 'any' },
            bytes: content.length,
          }),
        ),
      },
      { body: Buffer.concat(batchPaths.map(() => content)) },
    )
    acknowledged(version)
  }
}

/** The version of the file, and those that are among the files of the batch. Throws where one file is a mixture. */
export function versionsOnDisk(home: string): { file: number; batch: number[] } {
  const root = join(home, 'workspace')
  const seen = batchPaths.map((path) => versionOf(join(root, path), batchLines))
  return { file: versionOf(join(root, 'file'), fileLines), batch: [...new Set(seen)] }
}

/** What an interrupted change has left beside the files. */
export function leftovers(home: string): string[] {
  return readdirSync(join(home, '.atelier', 'stage'))
}

function versionOf(path: string, lines: number): number {
  const text = readFileSync(path, 'latin1')
  const version = Number(text.slice(0, text.indexOf('\n')))
  if (text !== textOf(version, lines)) throw new Error(`${path} is not one version`)
  return version
}

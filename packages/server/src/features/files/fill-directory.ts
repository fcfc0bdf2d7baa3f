import { packTarGz } from '../../platform/archive/pack-tar.ts'
import { grantWorkspaceScope, type WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'
import { clonePrefix } from './clone-directory.ts'
import type { StoredText } from './directory-store.ts'
import { fillLimits } from './unpack-files.ts'

/** Texts read from the database at once, each of at most 1 MiB. */
const textsPerPage = 32

/** Makes the directory of a workspace ready before anybody uses it. Rejects where that cannot be done. */
export type PrepareDirectory = (workspaceId: string, client: AgentClient) => Promise<void>

/**
 * Fills a directory that was never made on this node from the documents, all or nothing, and removes what a broken-off
 * clone has left. `node` names the data directory.
 */
export function createPrepareDirectory(dependencies: {
  store: {
    node(scope: WorkspaceScope): Promise<string | null>
    setNode(scope: WorkspaceScope, node: string): Promise<void>
    texts(scope: WorkspaceScope, page: { limit: number; after: string }): Promise<StoredText[]>
  }
  node: string
}): PrepareDirectory {
  const { store, node } = dependencies
  return async (workspaceId, client) => {
    // The workspace is being started for somebody whom the guard has let in.
    const scope = grantWorkspaceScope({ workspaceId, userId: null, role: 'owner' })
    await removeClones(client)
    if ((await store.node(scope)) === node) return
    const texts = allTexts(store, scope)
    const first = await texts.next()
    if (first.done !== true) {
      const body = packTarGz({ files: asFiles(first.value, texts), directories: [] })
      await client.call(
        'files.import',
        { format: 'tar.gz', existing: 'replace', caps: fillLimits },
        {
          body,
          timeoutMs: 600_000,
        },
      )
    }
    await store.setNode(scope, node)
  }
}

async function removeClones(client: AgentClient): Promise<void> {
  const { entries } = await client.call('files.list', { path: '', glob: `/${clonePrefix}*` })
  for (const { path } of entries) await client.call('files.delete', { path, recursive: true })
}

async function* allTexts(
  store: Parameters<typeof createPrepareDirectory>[0]['store'],
  scope: WorkspaceScope,
): AsyncGenerator<StoredText> {
  let after = ''
  for (;;) {
    const page = await store.texts(scope, { limit: textsPerPage, after })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < textsPerPage) return
    after = last.path
  }
}

async function* asFiles(first: StoredText, rest: AsyncIterable<StoredText>) {
  const toFile = ({ path, text }: StoredText) => ({ path, bytes: Buffer.from(text, 'utf8') })
  yield toFile(first)
  for await (const stored of rest) yield toFile(stored)
}

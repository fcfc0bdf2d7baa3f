import type { AgentFileEntry } from '@atelier/contract/agent-files'
import type { AgentClient } from '../../platform/runtime/agent-client.ts'

/**
 * Why files cannot be put at `paths`: a file stands where a folder is needed, or a folder where a file is. `null` where
 * nothing is in the way. Only folders that `paths` and the directory share are listed.
 */
export async function conflictsIn(client: AgentClient, paths: readonly string[]): Promise<string | null> {
  const waiting: { folder: string; paths: readonly string[] }[] = [{ folder: '', paths }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { folder } = next
    const present = await namesIn(client, folder)
    for (const [name, below] of byName(next.paths, folder)) {
      const type = present.get(name)
      const path = folder === '' ? name : `${folder}/${name}`
      if (type === undefined) continue
      const needsFolder = below.some((one) => one !== path)
      if (needsFolder && type !== 'directory') return `${path} is a file here, and a folder in what was sent`
      if (!needsFolder && type === 'directory') return `${path} is a folder here, and a file in what was sent`
      if (!needsFolder && type !== 'file')
        return `${path} is a link or the like here, and a file in what was sent`
      if (needsFolder) waiting.push({ folder: path, paths: below })
    }
  }
  return null
}

async function namesIn(client: AgentClient, folder: string): Promise<Map<string, AgentFileEntry['type']>> {
  const names = new Map<string, AgentFileEntry['type']>()
  const prefix = folder === '' ? 0 : folder.length + 1
  let after: string | undefined
  do {
    const params = after === undefined ? { path: folder } : { path: folder, after }
    const page = await client.call('files.list', params)
    for (const { path, type } of page.entries) names.set(path.slice(prefix), type)
    after = page.next ?? undefined
  } while (after !== undefined)
  return names
}

/** The paths below `folder`, by the name of its entry they begin with. */
function byName(paths: readonly string[], folder: string): Map<string, string[]> {
  const prefix = folder === '' ? 0 : folder.length + 1
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    const slash = path.indexOf('/', prefix)
    const name = path.slice(prefix, slash === -1 ? undefined : slash)
    const group = groups.get(name)
    if (group) group.push(path)
    else groups.set(name, [path])
  }
  return groups
}

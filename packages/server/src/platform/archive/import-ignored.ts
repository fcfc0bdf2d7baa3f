/** Why a part of a project is not imported, by the name of its folder. Whoever needs it can restore it from the rest. */
const ignoredFolders: Readonly<Record<string, IgnoreReason>> = {
  '.git': 'version control',
  '.hg': 'version control',
  '.svn': 'version control',
  '.bzr': 'version control',
  CVS: 'version control',
  node_modules: 'installed dependencies',
  bower_components: 'installed dependencies',
  jspm_packages: 'installed dependencies',
  '.pnpm-store': 'installed dependencies',
  '.venv': 'installed dependencies',
  'site-packages': 'installed dependencies',
  Pods: 'installed dependencies',
  '.gradle': 'tool cache',
  '.terraform': 'tool cache',
  __pycache__: 'tool cache',
  '.tox': 'tool cache',
  '.mypy_cache': 'tool cache',
  '.pytest_cache': 'tool cache',
  '.ruff_cache': 'tool cache',
  '.parcel-cache': 'tool cache',
  '.turbo': 'tool cache',
  '.next': 'tool cache',
  '.nuxt': 'tool cache',
  '.svelte-kit': 'tool cache',
  '.nyc_output': 'tool cache',
  __MACOSX: 'operating system',
}

/** Names of the folders that an import leaves out. */
export const ignoredFolderNames: readonly string[] = Object.keys(ignoredFolders)

/** Files that operating systems leave in folders; `._x` holds the attributes of `x` on a Mac. */
const ignoredFile = /^(\.DS_Store|Thumbs\.db|desktop\.ini|\._.*)$/

export type IgnoreReason = 'version control' | 'installed dependencies' | 'tool cache' | 'operating system'

export interface Ignored {
  /** the topmost ignored folder, or the file itself */
  path: string
  reason: IgnoreReason
}

/** Whether an import leaves out the file at `path`, and because of what. */
export function ignoredAt(path: string): Ignored | null {
  const segments = path.split('/')
  const name = segments.pop() ?? ''
  for (const [index, folder] of segments.entries()) {
    const reason = Object.hasOwn(ignoredFolders, folder) ? ignoredFolders[folder] : undefined
    if (reason !== undefined) return { path: segments.slice(0, index + 1).join('/'), reason }
  }
  return ignoredFile.test(name) ? { path, reason: 'operating system' } : null
}

/** Why a file is kept out of the index. */
export type SkipReason =
  | 'vendored'
  | 'lock-file'
  | 'too-large'
  | 'binary'
  | 'not-utf8'
  | 'empty'
  | 'minified'
  | 'generated'

/** Largest file that is indexed, in bytes. Hand-written source files beyond it are very rare; data dumps are not. */
export const maxFileBytes = 1_048_576

/** A line longer than this, in UTF-16 units, is machine-made; it also bounds a chunk that is one line. */
export const maxLineLength = 8_000

/** Mean line length beyond which code or data counts as minified. Hand-written code is at 25 to 45. */
const minifiedMeanLine = 300

// biome-ignore format: a table
const vendoredFolders: ReadonlySet<string> = new Set([
  'node_modules', 'bower_components', 'jspm_packages', '.git', '.hg', '.svn', '.venv', 'venv', '__pycache__', '.tox', '.mypy_cache',
  'site-packages', 'vendor', 'third_party', '.next', '.nuxt', '.svelte-kit', '.turbo', '.cache', '.parcel-cache',
  '.gradle', '.terraform', 'coverage', '.nyc_output', '.yarn', '.pnpm-store', 'Pods', 'DerivedData',
])

// biome-ignore format: a table
const lockFiles: ReadonlySet<string> = new Set([
  'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb',
  'deno.lock', 'cargo.lock', 'poetry.lock', 'pipfile.lock', 'uv.lock', 'pdm.lock', 'composer.lock',
  'gemfile.lock', 'go.sum', 'mix.lock', 'pubspec.lock', 'podfile.lock', 'package.resolved', 'flake.lock',
  'gradle.lockfile', 'packages.lock.json', '.terraform.lock.hcl',
])

const binaryExtensions =
  /\.(png|jpe?g|gif|webp|avif|ico|icns|bmp|tiff?|psd|mp[34]|m4a|ogg|wav|flac|webm|mov|avi|mkv|woff2?|ttf|otf|eot|pdf|docx?|xlsx?|pptx?|zip|gz|tgz|bz2|xz|zst|7z|rar|tar|jar|war|class|o|a|so|dylib|dll|exe|wasm|pyc|pdb|db|sqlite3?|bin|dat|node|map)$/i

/** Markers that generators write into the head of their output; Go's form is `^// Code generated .* DO NOT EDIT\.$`. */
const generatedMarker =
  /(^|\W)@generated\b|\bcode generated\b.{0,120}\bdo not edit\b|\bautomatically generated\b.{0,120}\bdo not (edit|modify)\b|\b(do not (edit|modify)|auto-?generated)\b.{0,60}\bgenerated (by|from|file)\b|<auto-?generated/i
const generatedHeadLength = 1_500

/** Judges what the name alone decides, before any byte is read. */
export function skipByPath(path: string): SkipReason | null {
  const segments = path.split('/')
  const name = (segments.pop() ?? '').toLowerCase()
  if (segments.some((segment) => vendoredFolders.has(segment))) return 'vendored'
  if (lockFiles.has(name)) return 'lock-file'
  if (binaryExtensions.test(name)) return 'binary'
  return /\.min\.(js|css|mjs|cjs)$|\.bundle\.js$/.test(name) ? 'minified' : null
}

export function skipBySize(bytes: number): SkipReason | null {
  return bytes > maxFileBytes ? 'too-large' : null
}

/** Whether it was the text, not the name or the size, that kept a file out. */
export function skippedForText(reason: string | null): boolean {
  return reason === 'empty' || reason === 'minified' || reason === 'generated'
}

/** Judges what only the text decides. */
export function skipByText(text: string): SkipReason | null {
  if (text.trim() === '') return 'empty'
  if (isMinified(text)) return 'minified'
  return generatedMarker.test(text.slice(0, generatedHeadLength)) ? 'generated' : null
}

function isMinified(text: string): boolean {
  let lines = 1
  let lineStart = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', lineStart)) {
    if (at - lineStart > maxLineLength) return true
    lineStart = at + 1
    if (lineStart < text.length) lines += 1
  }
  if (text.length - lineStart > maxLineLength) return true
  // Prose has long lines too, but it has spaces; minified code and encoded data hardly have any.
  return text.length / lines > minifiedMeanLine && spaceShare(text) < 0.08
}

function spaceShare(text: string): number {
  const sample = text.slice(0, 20_000)
  let spaces = 0
  for (let at = 0; at < sample.length; at += 1) if (sample.charCodeAt(at) <= 32) spaces += 1
  return spaces / sample.length
}

/** One sentence for a person who wonders why a file is not found; what is no SkipReason is a sentence already. */
export function describeReason(reason: string): string {
  return (descriptions as Readonly<Record<string, string>>)[reason] ?? reason
}

const descriptions: Readonly<Record<SkipReason, string>> = {
  vendored:
    'Installed, cached or version-control files are not indexed (node_modules, vendor, .git and the like).',
  'lock-file': 'Lock files are written by package managers and are not indexed.',
  'too-large': `The file is larger than ${maxFileBytes / 1_048_576} MiB.`,
  binary: 'The file is binary.',
  'not-utf8': 'The file is neither UTF-8 nor UTF-16 with a byte order mark.',
  empty: 'The file has no text.',
  minified: `The file looks minified: a line is longer than ${maxLineLength} characters, or lines have no spaces.`,
  generated: 'The file says in its head that it is generated.',
}

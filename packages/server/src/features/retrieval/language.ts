/** Languages by file extension; ids are those of editors (VS Code's language identifiers where one exists). */
// biome-ignore format: a table
const byExtension: Readonly<Record<string, string>> = {
  ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'tsx', js: 'javascript', mjs: 'javascript',
  cjs: 'javascript', jsx: 'javascript', py: 'python', pyi: 'python', pyw: 'python', go: 'go', rs: 'rust', java: 'java', c: 'c',
  h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hh: 'cpp', hpp: 'cpp', hxx: 'cpp', cs: 'csharp', rb: 'ruby',
  rake: 'ruby', gemspec: 'ruby', php: 'php', kt: 'kotlin', kts: 'kotlin', swift: 'swift', scala: 'scala', sc: 'scala', sh: 'bash',
  bash: 'bash', zsh: 'bash', lua: 'lua', ex: 'elixir', exs: 'elixir', dart: 'dart', zig: 'zig', sol: 'solidity',
  ml: 'ocaml', mli: 'ocaml', elm: 'elm', el: 'elisp', m: 'objective-c', mm: 'objective-c', res: 'rescript',
  css: 'css', scss: 'scss', less: 'less', html: 'html', htm: 'html', vue: 'vue', svelte: 'svelte', xml: 'xml',
  svg: 'xml', json: 'json', jsonc: 'json', json5: 'json', yaml: 'yaml', yml: 'yaml', toml: 'toml', ini: 'ini', cfg: 'ini',
  conf: 'ini', properties: 'ini', md: 'markdown', mdx: 'markdown', markdown: 'markdown', rst: 'restructuredtext', adoc: 'asciidoc',
  txt: 'plaintext', text: 'plaintext', log: 'plaintext', csv: 'csv', tsv: 'csv', sql: 'sql', graphql: 'graphql', gql: 'graphql',
  proto: 'proto', tf: 'terraform', hcl: 'terraform', r: 'r', jl: 'julia', hs: 'haskell', clj: 'clojure',
  cljs: 'clojure', erl: 'erlang', hrl: 'erlang', pl: 'perl', pm: 'perl', ps1: 'powershell', bat: 'bat', cmd: 'bat', fs: 'fsharp',
  vb: 'vb', groovy: 'groovy', gradle: 'groovy', nix: 'nix', cmake: 'cmake', mk: 'makefile', tex: 'latex', vim: 'viml',
  prisma: 'prisma', astro: 'astro',
}

/** Languages by whole file name, in lower case. */
// biome-ignore format: a table
const byName: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile', containerfile: 'dockerfile', makefile: 'makefile', gnumakefile: 'makefile',
  'cmakelists.txt': 'cmake', jenkinsfile: 'groovy', gemfile: 'ruby', rakefile: 'ruby', vagrantfile: 'ruby',
  podfile: 'ruby', procfile: 'plaintext', license: 'plaintext', readme: 'plaintext', changelog: 'plaintext',
  authors: 'plaintext', '.gitignore': 'ini', '.editorconfig': 'ini', '.npmrc': 'ini', '.env': 'ini',
  '.bashrc': 'bash', '.zshrc': 'bash', '.profile': 'bash', '.babelrc': 'json', '.eslintrc': 'json',
  '.prettierrc': 'json', 'go.mod': 'plaintext',
}

// biome-ignore format: a table
const byInterpreter: Readonly<Record<string, string>> = {
  node: 'javascript', nodejs: 'javascript', deno: 'typescript', bun: 'typescript', tsx: 'typescript',
  python: 'python', pypy: 'python', sh: 'bash', bash: 'bash', dash: 'bash', zsh: 'bash', ksh: 'bash',
  ruby: 'ruby', php: 'php', perl: 'perl', lua: 'lua', elixir: 'elixir', rscript: 'r',
}

const prose: ReadonlySet<string> = new Set(['markdown', 'restructuredtext', 'asciidoc', 'plaintext', 'latex'])
const data: ReadonlySet<string> = new Set(['json', 'yaml', 'toml', 'ini', 'csv', 'xml'])

/**
 * Language id of a file: by name, then by extension, then by the interpreter its first line names.
 * `null`: unknown; such a file is still indexed, by lines.
 */
export function languageOf(path: string, text = ''): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const named = byName[name] ?? (/^(dockerfile|containerfile)[.-]/.test(name) ? 'dockerfile' : undefined)
  if (named !== undefined) return named
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? byExtension[name.slice(dot + 1)] : undefined
  return extension ?? interpreterOf(text)
}

function interpreterOf(text: string): string | null {
  const shebang = /^#!\s*(?:\S*\/)?([\w.+-]+)(?:[ \t]+(?:-\S+[ \t]+)*([\w.+-]+))?/.exec(text.slice(0, 200))
  if (shebang === null) return null
  const program = shebang[1] === 'env' ? shebang[2] : shebang[1]
  return byInterpreter[(program ?? '').toLowerCase().replace(/[\d.]+$/, '')] ?? null
}

/** What a question may be about: code, prose about it, or data and configuration. */
export type LanguageKind = 'code' | 'prose' | 'data'

export function languageKind(language: string | null): LanguageKind {
  if (language === null || prose.has(language)) return 'prose'
  return data.has(language) ? 'data' : 'code'
}

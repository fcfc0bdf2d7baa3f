import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Language, Parser } from 'web-tree-sitter'

/** Language id -> grammar file of tree-sitter-wasms. Languages that are not here are cut by lines;
 * elm's and yaml's grammars do not run under web-tree-sitter 0.25. */
// biome-ignore format: a table
const grammarOf: Readonly<Record<string, string>> = {
  typescript: 'typescript', tsx: 'tsx', javascript: 'javascript', python: 'python', go: 'go', rust: 'rust', java: 'java', c: 'c',
  cpp: 'cpp', csharp: 'c_sharp', ruby: 'ruby', php: 'php', kotlin: 'kotlin', swift: 'swift', scala: 'scala', bash: 'bash', lua: 'lua',
  elixir: 'elixir', dart: 'dart', zig: 'zig', solidity: 'solidity', ocaml: 'ocaml', 'objective-c': 'objc', rescript: 'rescript',
  css: 'css', json: 'json', toml: 'toml',
}

/** Loaded parsers, one a language; they live in WebAssembly memory, which only ends with the thread. */
export interface Grammars {
  /** `null`: no grammar for this language, or its grammar does not load. */
  parserFor(language: string | null): Promise<Parser | null>
}

export function createGrammars(): Grammars {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('tree-sitter-wasms/package.json')),
    'out',
  )
  const parsers = new Map<string, Promise<Parser | null>>()
  let runtime: Promise<void> | undefined

  async function load(grammar: string): Promise<Parser | null> {
    runtime ??= Parser.init()
    await runtime
    try {
      const language = await Language.load(join(folder, `tree-sitter-${grammar}.wasm`))
      return new Parser().setLanguage(language)
    } catch {
      // A grammar that this runtime cannot load costs the structure of its chunks, not the file.
      return null
    }
  }

  return {
    parserFor(language) {
      const grammar = language === null ? undefined : grammarOf[language]
      if (grammar === undefined) return Promise.resolve(null)
      const parser = parsers.get(grammar) ?? load(grammar)
      parsers.set(grammar, parser)
      return parser
    },
  }
}

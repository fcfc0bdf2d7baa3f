import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Chunk, defaultChunkLimits } from './chunk.ts'
import { chunkText } from './chunk-text.ts'
import { createGrammars, type Grammars } from './grammars.ts'

const weightOf = (text: string) => text.replace(/\s/g, '').length

describe('chunks', () => {
  let grammars: Grammars
  beforeAll(() => {
    grammars = createGrammars()
  })
  const chunk = async (text: string, language: string | null) =>
    (await chunkText({ text, language }, grammars)).chunks

  function check(text: string, chunks: Chunk[]): void {
    expect(chunks.map(({ content }) => content).join('')).toBe(text)
    let line = 1
    for (const { startLine, endLine, content } of chunks) {
      expect(startLine).toBe(line)
      line = endLine + 1
      const lines = content.replace(/\n$/, '').split('\n').length
      expect(endLine - startLine + 1).toBe(lines)
      if (lines > 1) expect(weightOf(content)).toBeLessThanOrEqual(defaultChunkLimits.maxWeight)
    }
  }

  const line = fc.oneof(
    fc.constantFrom(
      '',
      '  ',
      '}',
      '{',
      'class A {',
      '  run(a, b) {',
      'function f() {',
      '# Title',
      '```',
      '/** says */',
      'const a = `',
    ),
    fc.string({ maxLength: 80 }),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
  )
  const anyText = fc
    .tuple(fc.array(line, { maxLength: 120 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([lines, end, final]) => lines.join(end) + (final ? end : ''))

  it.each(['typescript', 'python', 'rust', 'css', 'json', 'markdown', null])(
    '[RAG4] [RAG5] of any text as %s are its lines, in order, once, and small',
    async (language) => {
      await fc.assert(
        fc.asyncProperty(anyText, async (text) => check(text, await chunk(text, language))),
        { numRuns: 60 },
      )
    },
  )

  const source = `import { a } from 'a'

/** Finds things. */
export class Router {
  private routes = []

${Array.from({ length: 30 }, (_, index) => `  /** Says what ${index} does. */\n  method${index}(path: string): string {\n    return path.slice(${index}).toUpperCase() + 'some text to fill the line'\n  }\n`).join('\n')}
}

// Doubles it.
export const double = (value: number) => value * 2
`

  it('[RAG5] [RAG6] a class is cut between methods, each with its comment, its name and what it is part of', async () => {
    const chunks = await chunk(source, 'typescript')
    check(source, chunks)
    expect(chunks.length).toBeGreaterThan(3)
    for (let index = 0; index < 30; index += 1) {
      const holding = chunks.filter(({ content }) => content.includes(`method${index}(`))
      expect(holding).toHaveLength(1)
      expect(holding[0]?.content).toContain(`Says what ${index} does.`)
      expect(holding[0]?.symbols).toContain(`method${index}`)
    }
    expect(chunks.some(({ header }) => header === 'export class Router' || header === 'class Router')).toBe(
      true,
    )
    const last = chunks.find(({ content }) => content.includes('double ='))
    expect(last?.content).toContain('// Doubles it.')
    expect(last?.symbols).toContain('double')
  })

  it.each([
    ['python', 'class A:\n    def find_it(self):\n        return 1\n', ['A', 'find_it']],
    ['go', 'package a\n\nfunc (s *Server) Serve() error {\n\treturn nil\n}\n', ['Serve']],
    ['rust', 'impl Shape {\n    fn area(&self) -> f64 { 1.0 }\n}\n', ['area']],
    ['java', 'class A {\n  int size() { return 1; }\n}\n', ['A', 'size']],
    ['c', 'static int add(int a, int b) {\n  return a + b;\n}\n', ['add']],
    ['cpp', 'namespace n {\nint Box::area() const {\n  return 1;\n}\n}\n', ['area']],
    ['csharp', 'class A {\n  void Run() { }\n}\n', ['A', 'Run']],
    ['ruby', 'class A\n  def run\n  end\nend\n', ['A', 'run']],
    ['php', '<?php\nfunction run() {\n}\n', ['run']],
    ['kotlin', 'class A {\n  fun run() {\n  }\n}\n', ['A', 'run']],
    ['bash', 'run() {\n  echo 1\n}\n', ['run']],
    ['javascript', 'exports.parse = function () {\n}\nA.prototype.find = () => {\n}\n', ['parse', 'find']],
  ])('[RAG6] names of %s', async (language, text, names) => {
    const found = (await chunk(text, language)).flatMap(({ symbols }) => symbols)
    for (const name of names)
      expect(found.some((symbol) => symbol === name || symbol.endsWith(`::${name}`))).toBe(true)
  })

  it('[RAG6] Markdown is cut at headings, not at # in code', async () => {
    const text =
      '# Guide\n\nIntro.\n\n## Install\n\n```sh\n# not a heading\nnpm i\n```\n\n### Linux\n\nWords.\n'
    const chunks = await chunk(text, 'markdown')
    check(text, chunks)
    expect(chunks.map(({ symbols, header }) => [symbols, header])).toEqual([
      [['Guide'], ''],
      [['Install'], 'Guide'],
      [['Linux'], 'Guide › Install'],
    ])
  })

  it('[RAG7] text that nests deeper than any stack is still cut', async () => {
    const text = `${'(\n'.repeat(20_000)}${')\n'.repeat(20_000)}`
    check(text, await chunk(text, 'javascript'))
  })

  it('[RAG7] text too long to parse is cut by lines', async () => {
    const text = 'const a = 1 // some words\n'.repeat(25_000)
    const chunks = await chunk(text, 'typescript')
    check(text, chunks)
    expect(chunks.every(({ symbols }) => symbols.length === 0)).toBe(true)
  })
})

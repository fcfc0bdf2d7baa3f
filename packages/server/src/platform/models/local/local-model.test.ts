import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { createLocalModel } from './local-model.ts'
import { type LocalPassage, promptText } from './passage.ts'

const model = createLocalModel()
const modules = dirname(dirname(createRequire(import.meta.url).resolve('fastify')))

/** Lines of a file of an installed package: real code that nobody wrote for these tests. */
function source(path: string, from = 1, to = Number.POSITIVE_INFINITY): LocalPassage {
  const lines = readFileSync(join(modules, path), 'utf8').split('\n')
  const endLine = Math.min(to, lines.length)
  return { path, startLine: from, endLine, content: lines.slice(from - 1, endLine).join('\n') }
}

const kysely = [
  source('kysely/dist/util/object-utils.js'),
  source('kysely/dist/driver/runtime-driver.js'),
  source('kysely/dist/migration/migrator.js'),
]
const fastify = [
  source('fastify/lib/error-handler.js'),
  source('fastify/lib/reply.js', 120, 260),
  source('fastify/README.md', 1, 120),
  source('fastify/package.json', 1, 40),
]
const cache: LocalPassage = {
  path: 'app/cache.py',
  startLine: 10,
  endLine: 27,
  language: 'python',
  content: `class Cache:
    """Keeps values for a while.

    Not safe across processes.
    """

    def get(self, key):
        """Returns the value of a key, or None when it is missing or too old."""
        entry = self.items.get(key)
        # An expired entry is removed on the way, so that memory does not grow.
        if time.monotonic() - entry.stored > self.ttl:
            del self.items[key]
            return None
        return entry.value

    def put(self, key, value):
        if key is None:
            raise ValueError("a key is needed")`,
}
const schema: LocalPassage = {
  path: 'db/001.sql',
  startLine: 1,
  endLine: 5,
  content: `-- People who may sign in.
create table if not exists users (
  id text primary key,
  email text not null unique
);`,
}
const compose: LocalPassage = {
  path: 'docker-compose.yml',
  startLine: 1,
  endLine: 6,
  content:
    'services:\n  web:\n    ports:\n      - "3000:3000"\n    environment:\n      DATABASE_URL: postgres://db/app',
}

function call(
  question: string,
  passages: LocalPassage[],
  earlier: string[] = [],
): LanguageModelV4CallOptions {
  const turn = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
  return {
    prompt: [...earlier.map(turn), turn(question)],
    providerOptions: {
      atelier: { passages: passages.map((passage) => ({ ...passage, language: passage.language ?? null })) },
    },
  }
}

async function ask(question: string, passages: LocalPassage[], earlier?: string[]): Promise<string> {
  const { content } = await model.doGenerate(call(question, passages, earlier))
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Every place that an answer cites. */
function places(answer: string): { path: string; from: number; to: number }[] {
  return [...answer.matchAll(/\[([^\][\n]+):(\d+)-(\d+)\]/g)].map(([, path = '', from, to]) => ({
    path,
    from: Number(from),
    to: Number(to),
  }))
}

/** Lines of a cited place, without indentation. */
function quotable(passages: LocalPassage[], path: string, from: number, to: number): Set<string> {
  const lines = passages
    .filter((passage) => passage.path === path)
    .flatMap((passage) =>
      passage.content.split('\n').slice(Math.max(0, from - passage.startLine), to - passage.startLine + 1),
    )
  return new Set([...lines.map((line) => line.trim().replaceAll('\t', '  ')), ''])
}

const questions: [string, LocalPassage[]][] = [
  ['How does fastify handle errors thrown in a handler?', fastify],
  ['Where is `setErrorStatusCode` defined?', fastify],
  ['What does this project do?', fastify],
  ['how are migrations locked so that two servers do not run them at the same time?', kysely],
  ['which functions are there in object utils?', kysely],
  ['what is the difference between acquireConnection and releaseConnection?', kysely],
  ['write a function that adds two numbers', kysely],
  ['How does the cache expire old entries?', [cache, schema, compose]],
  ['which tables are there?', [cache, schema, compose]],
  ['Which port does the web service listen on?', [cache, schema, compose]],
]

describe('the local model', () => {
  it('[MOD25] cites what search put first, also where the question has other words for it', async () => {
    const first: LocalPassage = {
      path: 'src/fix-json.ts',
      startLine: 1,
      endLine: 3,
      content: 'export function fixJson(input: string): string {\n  return closeBrackets(input)\n}',
    }
    const others = Array.from(
      { length: 12 },
      (_, index): LocalPassage => ({
        path: `src/repair-${index}.ts`,
        startLine: 1,
        endLine: 3,
        content: `export function repairBrokenText${index}(broken: string): string {\n  return repairText(broken, ${index})\n}`,
      }),
    )
    const answer = await ask('How is broken JSON text repaired?', [first, ...others])
    expect(places(answer)).toContainEqual({ path: 'src/fix-json.ts', from: 1, to: 3 })
  })

  it.each(questions)('[MOD19] quotes and cites only what it was given: %s', async (question, passages) => {
    const answer = await ask(question, passages)
    const cited = places(answer)
    expect(cited.length).toBeGreaterThan(0)
    for (const { path, from, to } of cited) {
      const holds = passages.some(
        (passage) =>
          passage.path === path && passage.startLine <= from && from <= to && to <= passage.endLine,
      )
      expect(holds, `${path}:${from}-${to}`).toBe(true)
    }
    // A block of code stands in the lines that the heading before it cites.
    const blocks = [
      ...answer.matchAll(/\[([^\][\n]+):(\d+)-(\d+)\]\n\n(?:>.*\n)*\n?```\w+\n([\s\S]*?)^```$/gm),
    ]
    expect(blocks).toHaveLength([...answer.matchAll(/^```\w+$/gm)].length)
    for (const [, path = '', from, to, block = ''] of blocks) {
      const lines = quotable(passages, path, Number(from), Number(to))
      for (const line of block.split('\n').map((text) => text.trim())) {
        expect(line.endsWith('…') || lines.has(line), line).toBe(true)
      }
    }
  })

  it('[MOD19] finds the function that answers, not only one with the same words', async () => {
    expect(await ask('How does fastify handle errors thrown in a handler?', fastify)).toMatch(
      /^\*\*`handleError`\*\* – function/,
    )
    const locked = await ask(questions[3]?.[0] ?? '', kysely)
    expect(locked).toContain('acquireMigrationLock')
    expect(await ask('How does the cache expire old entries?', [schema, compose, cache])).toContain(
      'An expired entry is removed on the way',
    )
    expect(await ask('Which port does the web service listen on?', [cache, schema, compose])).toContain(
      '3000:3000',
    )
  })

  it('[MOD20] says what it is and which variables bring a language model, in one closing line', async () => {
    for (const [question, passages] of [
      ...questions,
      ['hello', []],
      ['How does retry work?', []],
    ] as typeof questions) {
      const closing = (await ask(question, passages)).split('\n').at(-1) ?? ''
      expect(closing).toContain('is no language model')
      for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'])
        expect(closing).toContain(name)
    }
  })

  it('[MOD20] greets with what it can do, and without code says that there is none', async () => {
    expect(await ask('hello!', kysely)).toContain('Questions that work well')
    expect(await ask('what can you do?', [])).toContain('Questions that work well')
    expect(await ask('How does the retry logic work?', [])).toContain('There is no code with this question')
  })

  it('[CHAT24] says that the code could not be searched, not that there is none', async () => {
    const prompt = [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'How does the retry logic work?' }] },
    ]
    const { content } = await model.doGenerate({
      prompt,
      providerOptions: { atelier: { unavailable: true } },
    })
    const [answer] = content.map((part) => (part.type === 'text' ? part.text : ''))
    expect(answer).toContain('could not be searched')
    expect(answer).not.toContain('There is no code')
  })

  it('[LED2] the text of a prompt, of which its cost is reserved, holds what tools were given and gave', () => {
    const tool = { toolCallId: 'c', toolName: 'read_file' }
    const output = { type: 'text' as const, value: 'found in the file' }
    const text = promptText([
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: [{ type: 'tool-call', ...tool, input: { path: 'a.ts' } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...tool, output }] },
    ])
    for (const part of ['Be brief.', 'a.ts', 'found in the file']) expect(text).toContain(part)
  })

  it('[MOD21] says when nothing mentions what is asked', async () => {
    const answer = await ask('how does the quantum flux capacitor work', kysely)
    expect(answer).toContain('None of the passages found mentions “quantum”, “flux” or “capacitor”')
  })

  it('[MOD21] tells where a name comes from when its definition was not found', async () => {
    const answer = await ask('Where is `setErrorStatusCode` defined?', fastify)
    expect(answer).toContain('is not defined in the passages found')
    expect(answer).toContain("require('./error-status.js')")
  })

  it('[MOD21] lists what there is, and shows what the project says about itself', async () => {
    expect(await ask('which tables are there?', [cache, schema])).toContain(
      '`users` – People who may sign in.',
    )
    const overview = await ask('What does this project do?', fastify)
    expect(overview).toContain('> Fast and low overhead web framework, for Node.js')
    expect(overview).toContain('Fastify is a web framework highly focused on providing')
  })

  it('[MOD21] follows a question that has its subject in the one before', async () => {
    const answer = await ask('and where is it defined?', kysely, ['How does acquireConnection work?'])
    expect(answer).toContain('**`acquireConnection`** – function')
  })

  it('[MOD21] does not pretend to write code', async () => {
    expect(await ask('implement a cache in Redis', [cache])).toMatch(
      /^Without a language model I cannot write/,
    )
  })

  it('[MOD19] is harmless with hostile or broken passages', async () => {
    const hostile: LocalPassage = {
      path: 'a.md',
      startLine: 3,
      endLine: 4,
      content: `# Retry ${'('.repeat(5000)}\n![x](http://evil/?q=retry) retry \`\`\` retry`,
    }
    const answer = await ask('how does retry work?', [hostile, { ...hostile, content: '', path: 'empty.ts' }])
    expect(answer).not.toContain('![')
    expect(answer).toContain('a.md')
  })

  it('[MOD19] takes a bounded time for passages of any size', async () => {
    const endless: LocalPassage = {
      path: 'endless.ts',
      startLine: 1,
      endLine: 20_000,
      content: Array.from({ length: 20_000 }, (_, index) => `function retry${index}(a, b, c) {`).join('\n'),
    }
    const started = performance.now()
    await ask('how does retry work?', [endless, { ...endless, path: 'b.ts' }])
    // Quadratic work takes minutes here.
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('[MOD22] streams in several parts that make up the whole answer', async () => {
    const asked = call(...(questions[0] as [string, LocalPassage[]]))
    const { stream } = await model.doStream(asked)
    const parts: LanguageModelV4StreamPart[] = await Array.fromAsync(stream)
    const deltas = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []))
    expect(deltas.length).toBeGreaterThan(5)
    expect(deltas.join('')).toBe(await ask(...(questions[0] as [string, LocalPassage[]])))
    const last = parts.at(-1)
    expect(last).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'stop' },
      usage: { raw: { estimated: true } },
    })
    expect(last?.type === 'finish' && last.usage.inputTokens.total).toBeGreaterThan(1000)
  })

  it('[MOD22] stops at an abort', async () => {
    const controller = new AbortController()
    const { stream } = await model.doStream({
      ...call('How does fastify handle errors?', fastify),
      abortSignal: controller.signal,
    })
    const reason = new Error('enough')
    const read = async () => {
      for await (const part of stream) if (part.type === 'text-delta') controller.abort(reason)
    }
    await expect(read()).rejects.toBe(reason)
  })

  it('[MOD22] keeps the limit of the answer', async () => {
    const { content, finishReason, usage } = await model.doGenerate({
      ...call('How does fastify handle errors?', fastify),
      maxOutputTokens: 20,
    })
    expect(finishReason.unified).toBe('length')
    expect(usage.outputTokens.total).toBeLessThanOrEqual(20)
    expect(content[0]?.type === 'text' && content[0].text.length).toBeLessThanOrEqual(80)
  })
})

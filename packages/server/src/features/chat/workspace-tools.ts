import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { z } from 'zod'
import { AppError } from '../../base/app-error.ts'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import { charactersPerToken } from '../../platform/models/usage.ts'
import { smallestWindow } from './prompt-builder.ts'
import type { ContextSource, FileSource, Passage } from './workspace-context.ts'
import { formatPassage, oneLine } from './workspace-material.ts'

/** What the tools need of a workspace, beside its passages and files. */
export interface ToolSources {
  /** Files below a folder in the order of their paths; `''` is all. */
  list(
    scope: WorkspaceScope,
    options: { folder: string; limit: number },
  ): Promise<{ path: string; bytes: number }[]>
  /** Lines that a text or a pattern is in. */
  grep(
    scope: WorkspaceScope,
    asked: { query: string; path: string; regex: boolean; limit: number },
    signal: AbortSignal,
  ): Promise<{ matches: readonly { path: string; line: number; text: string }[]; truncated: boolean }>
}

export interface ToolResult {
  ok: boolean
  /** for the model */
  text: string
  /** for a person, one line */
  summary: string
  /** what the model may cite from now on */
  passages: readonly Passage[]
}

export interface WorkspaceTools {
  readonly definitions: readonly LanguageModelV4FunctionTool[]
  /** Never rejects: what goes wrong is told to the model, which may ask otherwise. */
  run(call: { name: string; input: unknown }, signal: AbortSignal): Promise<ToolResult>
}

/** Tokens of passages that one search gives, lines that one reading gives, and lines of lists. */
const mostSearchTokens = 4_000
const mostLines = 400
const mostEntries = 500
const mostMatches = 100

/** Files whose matching lines may be cited, of one grep. */
const mostCitedFiles = 20

/** Characters of one result; the rest is cut and said to be. */
const mostCharacters = 40_000
/** Part of a model's window that one result may take. */
const resultShare = 0.15

const Path = z.string().max(4_096)
const Line = z.number().int().min(1)

const inputs = {
  search_code: z.strictObject({
    query: z.string().min(1).max(2_000).describe('what to look for, in words or names'),
  }),
  list_files: z.strictObject({ folder: Path.default('').describe('empty for the whole workspace') }),
  read_file: z.strictObject({
    path: Path.min(1),
    start_line: Line.default(1),
    end_line: Line.optional().describe(`at most ${mostLines} lines are given at a time`),
  }),
  grep: z.strictObject({
    query: z.string().min(1).max(1_000),
    folder: Path.default('').describe('empty for the whole workspace'),
    regex: z.boolean().default(false),
  }),
} as const

type ToolName = keyof typeof inputs

const descriptions: Record<ToolName, string> = {
  search_code: 'Find the passages of the workspace that are most relevant to a question or a name.',
  list_files: 'List the files of a folder and below, with their sizes in bytes.',
  read_file: 'Read lines of one file. Each line is given with its number.',
  grep: 'Find every line that contains a text, or matches a regular expression.',
}

/** Reading tools on one workspace, for a principal that has been let into it. */
export function createWorkspaceTools(dependencies: {
  scope: WorkspaceScope
  /** Asked before each call, since an answer takes minutes: throws once the principal may not read the workspace. */
  enter(): Promise<unknown>
  retrieval: ContextSource
  files: FileSource
  sources: ToolSources
  /** tokens of the model that reads the results; null where nobody tells */
  contextWindow: number | null
  logger: { error(fields: object, message: string): void }
}): WorkspaceTools {
  const { scope, enter, retrieval, files, sources, contextWindow, logger } = dependencies
  const window = (contextWindow ?? smallestWindow) * charactersPerToken
  const longest = Math.min(mostCharacters, Math.floor(window * resultShare))
  const searchTokens = Math.min(mostSearchTokens, Math.floor(longest / charactersPerToken))

  const handlers: { [Name in ToolName]: Handler<z.output<(typeof inputs)[Name]>> } = {
    async search_code({ query }) {
      const { passages } = await retrieval.contextFor(scope, query, searchTokens)
      const text = passages.map((passage, index) => formatPassage(passage, index + 1)).join('\n')
      const summary = `${passages.length} passages`
      return { ok: true, text: text === '' ? 'Nothing relevant was found.' : text, summary, passages }
    },

    async list_files({ folder }) {
      const found = await sources.list(scope, { folder: cleaned(folder), limit: mostEntries + 1 })
      const lines = found.slice(0, mostEntries).map(({ path, bytes }) => `${oneLine(path)} (${bytes})`)
      if (found.length > mostEntries) lines.push('… and more; name a folder')
      const text = lines.length === 0 ? 'There is no file.' : lines.join('\n')
      return { ok: true, text, summary: `${Math.min(found.length, mostEntries)} files`, passages: [] }
    },

    async read_file({ path, start_line: start, end_line: end }) {
      const file = await files.readText(scope, cleaned(path))
      if (file === null) return failed(`There is no text file at ${path}.`)
      const lines = file.content.replace(/\r?\n$/, '').split('\n')
      if (start > lines.length) return failed(`${path} has ${lines.length} lines only.`)
      const wanted = lines.slice(start - 1, Math.min(end ?? lines.length, start + mostLines - 1))
      const given = wanted.slice(0, Math.max(1, countFitting(wanted, longest)))
      const last = start - 1 + given.length
      const { language, contentSha256 } = file
      const content = given.join('\n')
      const passage = { path: file.path, startLine: start, endLine: last, content, language, contentSha256 }
      const rest = last < lines.length ? `\n(The file has ${lines.length} lines.)` : ''
      const text = `${formatPassage(passage, 1)}${rest}`
      return { ok: true, text, summary: `lines ${start}-${last} of ${lines.length}`, passages: [passage] }
    },

    async grep({ query, folder, regex }, signal) {
      const asked = { query, path: cleaned(folder), regex, limit: mostMatches }
      const { matches, truncated } = await sources.grep(scope, asked, signal)
      const lines = matches.map(({ path, line, text }) => `${oneLine(path)}:${line}: ${oneLine(text)}`)
      if (truncated) lines.push('… and more')
      const text = lines.length === 0 ? 'No line matches.' : lines.join('\n')
      return {
        ok: true,
        text,
        summary: `${matches.length} lines${truncated ? ' and more' : ''}`,
        passages: await matchedLines(matches),
      }
    },
  }

  /** What grep has shown, so that it may be cited. */
  async function matchedLines(matches: readonly { path: string; line: number }[]): Promise<Passage[]> {
    const byPath = [...Map.groupBy(matches, ({ path }) => path)].slice(0, mostCitedFiles)
    const found = await Promise.all(
      byPath.map(async ([path, lines]) => ({ lines, file: await files.readText(scope, path) })),
    )
    return found.flatMap(({ lines, file }) => {
      if (file === null) return []
      const all = file.content.split('\n')
      const { path, language, contentSha256 } = file
      return lines.map(({ line }) => {
        const content = all[line - 1] ?? ''
        return { path, startLine: line, endLine: line, content, language, contentSha256 }
      })
    })
  }

  async function runKnown<Name extends ToolName>(
    name: Name,
    input: unknown,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const parsed = inputs[name].safeParse(input)
    if (!parsed.success) {
      const issues = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`,
      )
      return failed(`The input is not valid: ${issues.join('; ')}`)
    }
    // The schema of this very name has just been applied; TypeScript cannot follow that through the table.
    return cut(await handlers[name](parsed.data as never, signal), longest)
  }

  return {
    definitions,
    async run({ name, input }, signal) {
      try {
        if (!isToolName(name)) return failed(`There is no tool ${name}.`)
        await enter()
        return await runKnown(name, input, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof AppError) return failed(error.message)
        logger.error({ err: error, workspaceId: scope.workspaceId, tool: name }, 'a tool failed')
        return failed('The tool failed.')
      }
    },
  }
}

type Handler<Input> = (input: Input, signal: AbortSignal) => Promise<ToolResult>

const definitions: readonly LanguageModelV4FunctionTool[] = Object.entries(inputs).map(([name, schema]) => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' })
  return {
    type: 'function',
    name,
    description: descriptions[name as ToolName],
    inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
  }
})

function isToolName(name: string): name is ToolName {
  return Object.hasOwn(inputs, name)
}

/** Characters that a line costs beside its text: its number and the heading's share. */
const lineOverhead = 10

function countFitting(lines: readonly string[], characters: number): number {
  let left = characters
  const first = lines.findIndex((line) => {
    left -= line.length + lineOverhead
    return left < 0
  })
  return first === -1 ? lines.length : first
}

function cleaned(path: string): string {
  return path.replace(/^(\.?\/)+|^\.$|\/+$/g, '')
}

function failed(text: string): ToolResult {
  return { ok: false, text, summary: text, passages: [] }
}

/** No text of a file may be more than its model can take, nor more than a database can store. */
function cut(result: ToolResult, longest: number): ToolResult {
  const text = result.text.replaceAll('\0', '\uFFFD')
  if (text.length <= longest) return { ...result, text }
  return { ...result, text: `${text.slice(0, longest).toWellFormed()}\n… cut here` }
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { createClient } from '@atelier/client'
import { chat, createWorkspace, importIntoWorkspace, watchWorkspaceJob } from '@atelier/contract'
import { signUpPerson, startTestServer } from '@atelier/testkit'

/**
 * Asks questions whose answers are known about two real projects, over HTTP, and writes docs/transcript.md.
 * The projects are npm packages that this repository pins, so that anybody can repeat it.
 */
interface Question {
  question: string
  /** the file that answers it, and a text of the decisive line */
  file: string
  line: string
}

const projects: Record<string, Question[]> = {
  ai: [
    {
      question: 'How long does it wait before a retry when the provider sends a retry-after header?',
      file: 'src/util/retry-with-exponential-backoff.ts',
      line: 'retry-after',
    },
    {
      question: 'How is a cut-off JSON text repaired while it is still streaming?',
      file: 'src/util/fix-json.ts',
      line: 'function fixJson',
    },
    {
      question: 'Where is the cosine similarity of two vectors computed?',
      file: 'src/util/cosine-similarity.ts',
      line: 'function cosineSimilarity',
    },
    {
      question: 'What splits streamed text into words or lines before it is sent on?',
      file: 'src/generate-text/smooth-stream.ts',
      line: 'function smoothStream',
    },
    {
      question: 'How are several abort signals combined into one?',
      file: 'src/util/merge-abort-signals.ts',
      line: 'function mergeAbortSignals',
    },
    {
      question: 'How does a provider registry find the provider of a model id?',
      file: 'src/registry/provider-registry.ts',
      line: 'splitId',
    },
  ],
  zod: [
    {
      question: 'Which regular expression checks an e-mail address?',
      file: 'src/v4/core/regexes.ts',
      line: 'export const email: RegExp',
    },
    {
      question: 'How are the issues of an error turned into a readable multi-line string?',
      file: 'src/v4/core/errors.ts',
      line: 'function prettifyError',
    },
    {
      question: 'Where is a base64 string validated?',
      file: 'src/v4/core/schemas.ts',
      line: 'function isValidBase64(',
    },
    {
      question: 'How is the remainder of two floating point numbers computed without rounding errors?',
      file: 'src/v4/core/util.ts',
      line: 'function floatSafeRemainder',
    },
    {
      question: 'Where are discriminated unions parsed?',
      file: 'src/v4/core/schemas.ts',
      line: '$ZodDiscriminatedUnion',
    },
    {
      question: 'What are the German error messages?',
      file: 'src/v4/locales/de.ts',
      line: 'invalid_type',
    },
  ],
}

await using server = await startTestServer()
const person = await signUpPerson(server.url)
const client = createClient({ baseUrl: server.url, headers: person.headers })
const sections: string[] = []
let found = 0
let asked = 0
for (const [name, questions] of Object.entries(projects)) sections.push(await transcribe(name, questions))
writeFileSync(
  join(import.meta.dirname, '../docs/transcript.md'),
  `# Questions about real projects

Written by \`node scripts/transcript.ts\`: each project is imported over HTTP as a person would drop it on the page, then asked without any key or
network, so the \`local\` model answers from search alone. An answer **hits** when one of its citations holds the decisive line. ${found} of ${asked} hit.

Search and the local model were changed after the misses of an earlier run (7 of 12) had been read, so this count flatters them; figures on
questions that nothing was chosen by are in [retrieval.md](retrieval.md).

${sections.join('\n')}`,
)
process.stdout.write(`${found} of ${asked} hit\n`)

async function transcribe(name: string, questions: readonly Question[]): Promise<string> {
  const directory = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string }
  const { workspaceId, summary } = await importDirectory(name, directory)
  const rows: string[] = []
  for (const question of questions) rows.push(await ask(workspaceId, directory, question))
  return `## ${name} ${version}\n\n${summary}\n\n${rows.join('\n')}`
}

async function importDirectory(
  name: string,
  directory: string,
): Promise<{ workspaceId: string; summary: string }> {
  const { id: workspaceId } = await client.call(createWorkspace, { body: { name } })
  const form = new FormData()
  let files = 0
  for (const path of filesBelow(directory)) {
    form.append('files', new Blob([readFileSync(path)]), `${name}/${relative(directory, path)}`)
    files += 1
  }
  const started = performance.now()
  const { job } = await client.call(importIntoWorkspace, { params: { workspaceId }, form })
  const { events } = await client.stream(watchWorkspaceJob, { params: { workspaceId, jobId: job.id } })
  let last = job
  for await (const { event } of events) last = event
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (last.state !== 'succeeded') throw new Error(`the import of ${name} ended as ${last.state}`)
  const { indexed, skipped, chunks } = (last.report as { totals: Record<string, number> }).totals
  return {
    workspaceId,
    summary: `${files} files imported in ${seconds} s: ${indexed} indexed as ${chunks} chunks, ${skipped} skipped with a reason.`,
  }
}

async function ask(
  workspaceId: string,
  directory: string,
  { question, file, line }: Question,
): Promise<string> {
  const started = performance.now()
  const answer = await client.call(chat, {
    body: { workspaceId, messages: [{ role: 'user', content: question }] },
  })
  const milliseconds = Math.round(performance.now() - started)
  const citations = answer.citations ?? []
  const decisive = readFileSync(join(directory, file), 'utf8').split('\n')
  const hit = citations.some(
    (citation) =>
      citation.path === file &&
      decisive.slice(citation.startLine - 1, citation.endLine).some((text) => text.includes(line)),
  )
  asked += 1
  if (hit) found += 1
  const cited = citations
    .map(({ path, startLine, endLine }) => `\`${path}:${startLine}-${endLine}\``)
    .join(', ')
  return `### ${question}\n\n${hit ? '**Hit**' : '**Miss**'} (wanted \`${file}\`). \`${answer.model}\`, ${milliseconds} ms. Cited: ${cited || 'nothing'}\n`
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

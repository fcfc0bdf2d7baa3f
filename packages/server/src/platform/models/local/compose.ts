import { codeBlock } from './excerpt.ts'
import {
  cite,
  citeDefinition,
  citeLine,
  citeRange,
  describe,
  filesOf,
  join,
  kindName,
  lastPart,
  oneLine,
  orList,
  quoted,
  section,
} from './markdown.ts'
import { callsIn, mentionsOf, observationsIn } from './observations.ts'
import type { Definition } from './outline.ts'
import type { LocalPassage, LocalRequest } from './passage.ts'
import { projectNotes } from './project-notes.ts'
import { type Question, understand } from './question.ts'
import { type Candidate, isProse, linesOf, type Ranking, rank } from './ranking.ts'
import { stem } from './words.ts'

const nature =
  '`local` needs no key, but it is no language model: it finds and cites code, it does not reason.'
const howToGetOne =
  'set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY` on the server, or start Ollama beside it.'

const mostRelated = 4
const mostUses = 4
const mostCalls = 6
const mostListed = 24
/** Things that a question can compare. */
const mostSubjects = 3

/** A Markdown answer made of quotations, each with its place; it never states what the passages do not. */
export function composeAnswer(request: LocalRequest): string {
  const question = understand(request.question, request.earlier)
  if (question.intent === 'talk')
    return join(introduction, `*${nature} To talk and to write code, ${howToGetOne}*`)
  if (request.passages.length === 0 && request.unavailable)
    return join(
      notSearched,
      `*${nature} It needs the search. For written answers without it, ${howToGetOne}*`,
    )
  if (request.passages.length === 0)
    return join(nothingGiven, `*${nature} For any other question, ${howToGetOne}*`)
  const passages = bounded(request.passages)
  const context = { question, ranking: rank(question, passages), passages }
  return join(...body(context), `*Quoted from the workspace. ${nature} For written answers, ${howToGetOne}*`)
}

/** Lines that are read for one answer: a tenth of a second of work. */
const mostLines = 4000

/** The best passages, and of a file that is too long its beginning. */
function bounded(passages: readonly LocalPassage[]): LocalPassage[] {
  const kept: LocalPassage[] = []
  let left = mostLines
  for (const passage of passages) {
    if (left <= 0) break
    const lines = passage.content.split('\n')
    if (lines.length <= left) kept.push(passage)
    else
      kept.push({
        ...passage,
        content: lines.slice(0, left).join('\n'),
        endLine: passage.startLine + left - 1,
      })
    left -= lines.length
  }
  return kept
}

interface Context {
  question: Question
  ranking: Ranking
  passages: readonly LocalPassage[]
}

function body(context: Context): string[] {
  const { question, ranking } = context
  if (question.intent === 'overview') return overview(context)
  if (question.intent === 'list') return list(context)
  const [best] = ranking.candidates
  const undefinedName = question.names.find((name) => isUndefinedHere(name, context))
  if (question.intent === 'locate' && undefinedName !== undefined)
    return onlyMentioned(undefinedName, context)
  if (best === undefined) return [nothingFound(context)]
  const opening = question.intent === 'change' ? [cannotChange] : caveat(context, best)
  const subjects = subjectsOf(context, best)
  if (subjects.length > 1)
    return [...opening, ...subjects.flatMap((candidate) => subject(candidate, ranking))]
  return question.intent === 'locate'
    ? [...opening, ...location(context, best)]
    : [...opening, ...explanation(context, best)]
}

const cannotChange =
  'Without a language model I cannot write or change code. This is the code closest to what you ask for, as a place to start:'

/** Says which words of the question the answer leaves out, where that is most of it. */
function caveat({ question, ranking }: Context, best: Candidate): string[] {
  const { missing } = ranking
  if (missing.length === 0 || missing.length < question.terms.length / 2) return []
  const asked = missing.slice(0, 4).map((word) => `“${word}”`)
  const nearest =
    best.definition === undefined
      ? 'The nearest match is:'
      : `The nearest match is \`${best.definition.name}\`:`
  return [`Nothing in the passages found mentions ${orList(asked)}. ${nearest}`]
}

/** The definitions that the question spells, when there are several; else the best one. */
function subjectsOf({ question, ranking }: Context, best: Candidate): Candidate[] {
  const spelled = ranking.candidates.filter(
    ({ definition }) =>
      definition !== undefined && question.names.some((name) => lastPart(name) === definition.name),
  )
  return spelled.length > 1 ? spelled.slice(0, mostSubjects) : [best]
}

function explanation(context: Context, best: Candidate): string[] {
  return [
    ...subject(best, context.ranking),
    ...observed(best, context.ranking),
    ...calls(best, context.ranking),
    ...uses(best, context.passages),
    ...related(context.ranking, best),
  ]
}

function location(context: Context, best: Candidate): string[] {
  const { question, ranking, passages } = context
  const name = best.definition?.name
  const wantsUses = ['call', 'caller', 'usage'].some((word) => question.terms.includes(stem(word)))
  if (!wantsUses || name === undefined) {
    return [...subject(best, ranking), ...uses(best, passages), ...related(ranking, best)]
  }
  const found = uses(best, passages, 12)
  const answer = found.length > 0 ? found : [`Nothing else in the passages found uses \`${name}\`.`]
  return [...answer, ...subject(best, ranking)]
}

/** What it is, what its author says about it, and its decisive lines. */
function subject(candidate: Candidate, ranking: Ranking): string[] {
  const { definition, passage } = candidate
  if (isProse(passage)) return prose(candidate)
  const heading =
    definition === undefined
      ? `**In \`${passage.path}\`** ${cite(candidate)}`
      : `**\`${definition.name}\`** – ${kindName(definition)} in ${cite(candidate)}`
  const quote = definition === undefined || definition.doc === '' ? [] : [quoted(definition.doc)]
  return [heading, ...quote, codeBlock(candidate, ranking.relevance)]
}

function prose(candidate: Candidate): string[] {
  const { definition, passage } = candidate
  const text = definition?.doc ?? linesOf(passage, candidate.startLine, candidate.endLine).join('\n').trim()
  const heading = definition === undefined ? `**From \`${passage.path}\`**` : `**${definition.name}**`
  return [`${heading} ${cite(candidate)}`, quoted(text)]
}

function observed(best: Candidate, ranking: Ranking): string[] {
  if (isProse(best.passage) || best.definition?.kind === 'type') return []
  const lines = observationsIn(best, ranking.relevance).map(
    ({ text, line }) => `- ${text} ${citeLine(best.passage.path, line)}`,
  )
  return section('What the code says on the way', lines)
}

function calls(best: Candidate, ranking: Ranking): string[] {
  if (best.definition?.kind !== 'function') return []
  const known = new Set(ranking.definitions.map((definition) => definition.name))
  const names = callsIn(best, known).slice(0, mostCalls)
  return names.length < 2 ? [] : [`It calls ${names.map((name) => `\`${name}\``).join(', ')}.`]
}

function uses(best: Candidate, passages: readonly LocalPassage[], most = mostUses): string[] {
  const name = best.definition?.name
  if (name === undefined || isProse(best.passage) || !/^[\w$]{3,}$/.test(name)) return []
  const mentions = mentionsOf(name, passages, best).filter((mention) => !mention.imported)
  const lines = mentions
    .slice(0, most)
    .map(({ text, path, line }) => `- \`${oneLine(text)}\` ${citeLine(path, line)}`)
  if (mentions.length > most) lines.push(`- and ${mentions.length - most} more in the passages found`)
  return section('Used in', lines)
}

function related(ranking: Ranking, best: Candidate): string[] {
  // Lines without a name are shown only when they come close.
  const isClose = ({ score, definition }: Candidate) =>
    score >= best.score * (definition === undefined ? 0.6 : 0.3)
  const others = ranking.candidates.filter((other) => other !== best)
  const close = others.filter(isClose).slice(0, mostRelated)
  const rest = others.filter((other) => close.includes(other) || other.leading)
  return section('Related', rest.map(relatedLine))
}

function relatedLine(candidate: Candidate): string {
  const { definition, passage } = candidate
  if (definition !== undefined) return `- ${describe(definition)} ${cite(candidate)}`
  const lines = linesOf(passage, candidate.startLine, candidate.endLine)
  const first = lines.find((line) => /\p{L}{2}/u.test(line)) ?? passage.path
  return `- \`${oneLine(first)}\` ${cite(candidate)}`
}

/** A name that the passages use, but do not define. */
function isUndefinedHere(name: string, { ranking, passages }: Context): boolean {
  const plain = lastPart(name)
  if (!/^[\w$]{3,}$/.test(plain)) return false
  return (
    !ranking.definitions.some((definition) => definition.name === plain) &&
    mentionsOf(plain, passages).length > 0
  )
}

function onlyMentioned(name: string, { passages }: Context): string[] {
  const mentions = mentionsOf(lastPart(name), passages)
  const show = (imported: boolean) =>
    mentions
      .filter((mention) => mention.imported === imported)
      .slice(0, 8)
      .map(({ text, path, line }) => `- \`${oneLine(text)}\` ${citeLine(path, line)}`)
  return [
    `\`${lastPart(name)}\` is not defined in the passages found; they only mention it.`,
    ...section('Comes from', show(true)),
    ...section('Used in', show(false)),
  ]
}

/** The definitions of the passages, file by file. */
function list(context: Context): string[] {
  const { question, ranking } = context
  const wanted = kindsAsked(question)
  const scored = ranking.definitions
    .filter(({ kind, nested }) => !nested && kind !== 'section' && (wanted?.includes(kind) ?? true))
    .map((definition) => ({ definition, score: scoreInList(definition, ranking) }))
    .sort((left, right) => right.score - left.score)
  const about = scored.filter(({ score }) => score >= 1)
  const matching = (about.length > 0 ? about : scored)
    .slice(0, mostListed)
    .map(({ definition }) => definition)
  if (matching.length === 0) return [nothingFound(context)]
  const byFile = Map.groupBy(matching, (definition) => definition.passage.path)
  const groups = [...byFile].map(([path, definitions]) => {
    const lines = definitions
      .toSorted((left, right) => left.line - right.line)
      .map((definition) => `- ${describe(definition)} ${citeDefinition(definition)}`)
    return `**\`${path}\`**\n${lines.join('\n')}`
  })
  return ['From the passages found, which need not be all there is:', ...groups]
}

/** At least 1 where a word of the question names it, its file or what it is for. */
function scoreInList({ name, doc, passage, exported }: Definition, { relevance }: Ranking): number {
  const share = relevance(`${name} ${doc} ${passage.path}`)
  return (share > 0 ? 1 + share : 0) + (exported ? 0.2 : 0)
}

function kindsAsked({ terms }: Question): Definition['kind'][] | undefined {
  const asks = (...words: string[]) => words.some((word) => terms.includes(stem(word)))
  if (asks('route', 'endpoint')) return ['route']
  if (asks('table')) return ['table']
  if (asks('class')) return ['class']
  if (asks('type', 'interface')) return ['type', 'class']
  return asks('function', 'method') ? ['function'] : undefined
}

/** What a project says about itself, then what the passages define. */
function overview({ ranking, passages }: Context): string[] {
  const notes = projectNotes(passages).map(
    (note) => `${quoted(note.text)}\n\n${citeRange(note.path, note.startLine, note.endLine)}`,
  )
  const defined = ranking.definitions
    .filter(({ kind, exported, doc }) => kind !== 'section' && exported && doc !== '')
    .slice(0, 8)
    .map((definition) => `- ${describe(definition)} ${citeDefinition(definition)}`)
  const parts = [...notes, ...section('What it defines, among other things', defined)]
  return parts.length > 0
    ? parts
    : [`The passages found are from ${filesOf(passages)}; none of them describes the whole.`]
}

function nothingFound({ question, passages }: Context): string {
  const words = question.terms.map((term) => `“${question.words.get(term) ?? term}”`)
  const asked = question.names.length > 0 ? question.names.map((name) => `\`${name}\``) : words
  const about = asked.length > 0 ? `mentions ${orList(asked.slice(0, 4))}` : 'answers this'
  return `None of the passages found ${about}. They are from ${filesOf(passages)}. Names as the code spells them work best.`
}

const notSearched =
  'The code of this workspace could not be searched just now, so I have nothing to quote; whether it has an answer, I cannot tell. Ask again in a moment. If it stays like this, the log of the server says why.'

const nothingGiven =
  'There is no code with this question, and I can only quote code. Open a workspace with files in it (import a repository or upload files) and ask again; names and words that occur in the code work best.'

const introduction = `I am \`local\`, the model that Atelier brings along. I answer questions about the code of your workspace by quoting it, with the place of every quotation. Questions that work well:

- *How does the retry logic work?*
- *Where is \`createSession\` defined, and who calls it?*
- *Which routes are there?*
- *What does this project do?*`

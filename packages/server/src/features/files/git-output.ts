import { AppError } from '../../base/app-error.ts'

/** Of what git writes only the end is kept, in characters. */
const keptCharacters = 4_000

/** Reads what `git clone --progress` writes: progress as it goes, and the last words for when it fails. */
export interface GitOutput {
  push(bytes: Uint8Array): void
  /** What it is doing, e.g. `Receiving objects: 45 %`. */
  phase(): string | null
  lastWords(): string
}

const progressLine =
  /^(?:remote: )?(Counting|Compressing|Receiving|Resolving|Updating|Filtering) ([a-z ]+):\s+(\d{1,3})%/

export function createGitOutput(): GitOutput {
  const decoder = new TextDecoder()
  let text = ''
  return {
    push(bytes) {
      text = (text + decoder.decode(bytes, { stream: true })).slice(-keptCharacters)
    },
    phase() {
      const lines = linesOf(text).toReversed()
      for (const line of lines) {
        const [, verb, noun, percent] = progressLine.exec(line) ?? []
        if (verb !== undefined) return `${verb} ${noun}: ${percent} %`
      }
      return null
    },
    lastWords: () =>
      linesOf(text)
        .filter((line) => !progressLine.test(line))
        .slice(-5)
        .join('\n'),
  }
}

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** What git's last words mean for whoever asked for the clone. */
export function cloneFailure(lastWords: string): AppError {
  const fatal = lastWords.split('\n').findLast((line) => line.startsWith('fatal:')) ?? lastWords
  const reason = fatal.replace(/^fatal:\s*/, '').slice(0, 500)
  if (/response 403|not on the list of allowed hosts/.test(lastWords))
    return new AppError('FORBIDDEN', 'The host of the repository is not one that workspaces may reach')
  if (
    /could not read Username|Authentication failed|repository '.*' not found|Repository not found|returned error: 40[134]/.test(
      lastWords,
    )
  )
    return new AppError('NOT_FOUND', `There is no such repository, or it is not public: ${reason}`)
  if (/Remote branch .* not found|not found in upstream/.test(lastWords))
    return new AppError('NOT_FOUND', `There is no such branch or tag: ${reason}`)
  return new AppError(
    'PROVIDER_ERROR',
    `The repository could not be cloned: ${reason || 'git gave no reason'}`,
  )
}

import { highlightCode } from '@lezer/highlight'
import { syntaxClasses } from './syntax-classes.ts'

/** A run of text of one class; the class is empty for plain text. */
export interface CodeToken {
  text: string
  className: string
}

/** Longest code that is coloured, in characters: beyond it colouring costs more than a frame. */
const maxHighlightedCharacters = 60_000

/**
 * Colours code by a language's name (`ts`, `python`) or by a file's name. Loads the language on first use; code of an
 * unknown language, or too long, comes back plain. One list of tokens for each line.
 */
export async function highlightLines(
  code: string,
  language: string,
  fileName?: string,
): Promise<CodeToken[][]> {
  if (code.length > maxHighlightedCharacters) return plainLines(code)
  const { languages, LanguageDescription } = await import('./languages.ts')
  const description =
    LanguageDescription.matchLanguageName(languages, language, false) ??
    LanguageDescription.matchFilename(languages, fileName ?? `x.${language}`)
  if (description === null) return plainLines(code)
  const support = await description.load()
  const lines: CodeToken[][] = [[]]
  highlightCode(
    code,
    support.language.parser.parse(code),
    syntaxClasses,
    (text, className) => lines.at(-1)?.push({ text, className }),
    () => lines.push([]),
  )
  return lines
}

export function plainLines(code: string): CodeToken[][] {
  return code.split('\n').map((text) => [{ text, className: '' }])
}

/** The list of languages is its own chunk, and each language one more, loaded when a file needs it. */
export { LanguageDescription } from '@codemirror/language'
export { languages } from '@codemirror/language-data'

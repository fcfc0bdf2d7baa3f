const vowel = /[aeiouy]/

/**
 * Brings the forms that code and prose about it use for one idea to one stem: `computes`, `computed`, `computing`,
 * `computation` -> `comput`; `router`, `routes`, `routing` -> `rout`. Lower-case input; words under 4 letters and words
 * with a digit are left alone. Not a linguistic stem: only used to compare terms with terms.
 */
export function lightStem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  return dropFinalE(stripDerivation(stripInflection(stripPlural(word))))
}

function stripPlural(word: string): string {
  if (!word.endsWith('s') || /(ss|us|is)$/.test(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(ches|shes|sses|xes|zes)$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

function stripInflection(word: string): string {
  for (const suffix of ['ing', 'ed']) {
    const base = word.slice(0, -suffix.length)
    if (word.endsWith(suffix) && base.length >= 3 && vowel.test(base)) return restoreE(base)
  }
  return word
}

/** `creat(ed)` is a form of `create`, `handl(ing)` one of `handle` already without its `e`. */
function restoreE(base: string): string {
  return /(at|bl|iz)$/.test(base) ? `${base}e` : undouble(base)
}

/** Longest first, with the letters the rest must have at least. */
// biome-ignore format: a table
const derivations: readonly [suffix: string, replacement: string, rest: number][] = [
  ['ization', '', 3], ['isation', '', 3], ['olution', 'olv', 1], ['ation', '', 3], ['izer', '', 3], ['iser', '', 3], ['ator', '', 3],
  ['ment', '', 4], ['able', '', 3], ['ible', '', 3], ['ness', '', 3], ['tion', 't', 3], ['sion', 's', 3], ['ally', 'al', 3], ['ize', '', 3],
  ['ise', '', 4], ['ate', '', 3], ['ity', '', 3], ['or', '', 4], ['er', '', 4], ['ly', '', 4],
]

function stripDerivation(word: string): string {
  for (const [suffix, replacement, rest] of derivations) {
    if (!word.endsWith(suffix)) continue
    const base = word.slice(0, -suffix.length)
    return base.length >= rest && (rest === 1 || vowel.test(base)) ? undouble(base + replacement) : word
  }
  return word
}

/** `mapp(ing)` -> `map`, but `call`, `pass` and `buzz` keep both letters. */
function undouble(base: string): string {
  const last = base.at(-1)
  return last === base.at(-2) && !/[aeiouylsz]/.test(last ?? '') ? base.slice(0, -1) : base
}

function dropFinalE(word: string): string {
  if (word.length > 3 && word.endsWith('e')) return word.slice(0, -1)
  return word.length > 3 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word
}

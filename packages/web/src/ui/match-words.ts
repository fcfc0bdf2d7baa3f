/**
 * Filter of a palette: 1 if every word of the search is somewhere in the item, else 0. Whole parts of words only:
 * letters scattered over a name are a coincidence.
 */
export function matchWords(value: string, search: string, keywords: string[] = []): number {
  const text = [value, ...keywords].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
    ? 1
    : 0
}

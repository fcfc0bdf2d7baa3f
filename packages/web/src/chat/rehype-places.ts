import { type PathResolver, type Place, splitPlaces } from './places.ts'

/** The parts of a syntax tree of HTML (hast) that are read here. */
interface Node {
  type: string
  tagName?: string
  value?: string
  properties?: Record<string, unknown>
  children?: Node[]
}

/** A rehype plugin: places named in text or in inline code become `<span data-path>`, which is drawn as a chip. */
export function rehypePlaces({ resolve }: { resolve: PathResolver }) {
  return (tree: Node) => replaceIn(tree, resolve)
}

function replaceIn(parent: Node, resolve: PathResolver): void {
  if (parent.children === undefined || parent.tagName === 'pre' || parent.tagName === 'a') return
  parent.children = parent.children.flatMap((child) => {
    if (child.type === 'text') return chipsIn(child.value ?? '', resolve)
    const inline = child.tagName === 'code' ? inlineChip(child, resolve) : null
    if (inline !== null) return inline
    if (child.tagName !== 'code') replaceIn(child, resolve)
    return [child]
  })
}

function chipsIn(text: string, resolve: PathResolver): Node[] {
  return splitPlaces(text, resolve).map((part) =>
    typeof part === 'string' ? { type: 'text', value: part } : chip(part),
  )
}

/** Inline code that is a place, or the path of a file, and nothing else. */
function inlineChip(code: Node, resolve: PathResolver): Node[] | null {
  const text = code.children?.[0]?.value ?? ''
  if (code.children?.length !== 1) return null
  const whole = /[./]/.test(text) ? resolve(text) : null
  if (whole !== null) return [chip({ path: whole, lines: null })]
  const parts = splitPlaces(text, resolve).filter((part) => part !== ' ')
  return parts.length > 0 && parts.every((part) => typeof part !== 'string') ? chipsIn(text, resolve) : null
}

function chip({ path, lines }: Place): Node {
  const range = lines === null ? {} : { dataStart: lines.start, dataEnd: lines.end }
  return { type: 'element', tagName: 'span', properties: { dataPath: path, ...range }, children: [] }
}

import type { Node, Parser } from 'web-tree-sitter'
import type { ChunkLimits, LineSpan } from './chunk.ts'
import { definedName, isFunctionNode, isVariable, isWrapper, leadsNext, signatureOf } from './definitions.ts'
import { spansByLine } from './line-chunker.ts'
import type { LineTable } from './line-table.ts'

/** Parsing stops here and the file is cut by lines instead. Grammars do about 3 MB/s, so both are far from normal. */
const maxParseMilliseconds = 1_500
const maxParseLength = 600_000

/** Deepest descent into a syntax tree; generated expressions nest by the thousand. */
const maxDepth = 60
/** Definitions nested deeper than this inside one chunk do not become its symbols. */
const maxSymbolDepth = 6
const maxSymbols = 24
/** A piece lighter than this joins its neighbour whatever it belongs to: a closing brace, a lone signature line. */
const crumbWeight = 100

/** A node with the chain of definitions around it. */
interface Placed {
  node: Node
  header: string
  /** local variables inside a function are not symbols */
  inFunction: boolean
  /** name of the definition whose first part this is */
  opens: string | null
}

interface Group {
  nodes: Placed[]
  from: number
  to: number
}

export interface CodeText {
  text: string
  lines: LineTable
  limits: ChunkLimits
}

/**
 * Cuts source text along its syntax tree: split what is too large, then merge small neighbours (cAST, arXiv 2506.15655),
 * on whole lines and with comments kept at what they describe.
 * `null`: the text is too long or took too long to parse. Throws what the grammar throws.
 */
export function spansBySyntax(parser: Parser, source: CodeText): LineSpan[] | null {
  if (source.text.length > maxParseLength) return null
  const deadline = performance.now() + maxParseMilliseconds
  const tree = parser.parse(source.text, null, { progressCallback: () => performance.now() > deadline })
  if (tree === null) {
    parser.reset()
    return null
  }
  try {
    const root = {
      nodes: [{ node: tree.rootNode, header: '', inFunction: false, opens: null }],
      from: 0,
      to: source.lines.count,
    }
    return mergeSpans(splitGroup(root, source, 0), source)
  } finally {
    tree.delete()
  }
}

function splitGroup(group: Group, source: CodeText, depth: number): LineSpan[] {
  const { lines, limits } = source
  const fits = lines.weight(group.from, group.to) <= limits.maxWeight || group.to - group.from <= 1
  // The root is opened even if it fits, so that merging decides which definitions share a chunk.
  if (fits && depth > 0) return [spanOf(group)]
  const opened = depth < maxDepth ? openNodes(group.nodes) : null
  if (opened === null) return fits ? [spanOf(group)] : spansInside(group, source)
  const parts = partition(opened, group)
  if (parts.length === 1) return splitGroup({ ...group, nodes: opened }, source, depth + 1)
  return parts.flatMap((part) => splitGroup(part, source, depth + 1))
}

/** A leaf that is too large (a template string, a comment): cut by lines, its symbols at the first piece. */
function spansInside(group: Group, { lines, limits }: CodeText): LineSpan[] {
  const spans = spansByLine(lines, { from: group.from, to: group.to, header: headerOf(group) }, limits)
  if (spans[0] !== undefined) spans[0].symbols = symbolsOf(group.nodes)
  return spans
}

/** Replaces every node of several lines by its children; `null` when none has any. */
function openNodes(nodes: readonly Placed[]): Placed[] | null {
  let opened = false
  const result = nodes.flatMap((placed) => {
    const { node } = placed
    if (!spansLines(node) || node.namedChildCount === 0) return [placed]
    opened = true
    return childrenOf(placed)
  })
  return opened ? result : null
}

function childrenOf({ node, header, inFunction, opens }: Placed): Placed[] {
  const name = definedName(node)
  const inner = name === null ? header : joinHeader(header, signatureOf(node))
  const inside = inFunction || isFunctionNode(node)
  return node.namedChildren.flatMap((child, index) =>
    child === null
      ? []
      : [{ node: child, header: inner, inFunction: inside, opens: index === 0 ? (name ?? opens) : null }],
  )
}

function joinHeader(outer: string, signature: string): string {
  return outer === '' ? signature : `${outer} › ${signature}`
}

/** Groups nodes into runs of whole lines that together are exactly the lines of `outer`. */
function partition(nodes: readonly Placed[], outer: Group): Group[] {
  const groups: (Group & { open: boolean })[] = []
  for (const placed of nodes) {
    const first = placed.node.startPosition.row
    const last = lastRow(placed.node)
    const leads = leadsNext(placed.node)
    const group = groups.at(-1)
    // Same line, or right below a comment or decorator: it belongs together.
    if (group !== undefined && (first < group.to || (group.open && first === group.to))) {
      group.nodes.push(placed)
      group.to = Math.max(group.to, last + 1)
      group.open = leads && (group.open || first >= group.to)
    } else {
      groups.push({ nodes: [placed], from: first, to: last + 1, open: leads })
    }
  }
  return groups.map((group, index) => ({
    nodes: group.nodes,
    from: index === 0 ? outer.from : group.from,
    to: groups[index + 1]?.from ?? outer.to,
  }))
}

/** Some grammars end a node at column 0 of the line after it. */
function lastRow(node: Node): number {
  const { row, column } = node.endPosition
  return column === 0 && row > node.startPosition.row ? row - 1 : row
}

function spanOf(group: Group): LineSpan {
  return { from: group.from, to: group.to, symbols: symbolsOf(group.nodes), header: headerOf(group) }
}

function headerOf(group: Group): string {
  return group.nodes[0]?.header ?? ''
}

function spansLines(node: Node): boolean {
  return node.startPosition.row < node.endPosition.row
}

function symbolsOf(nodes: readonly Placed[]): string[] {
  const symbols = new Set<string>()
  const visit = (node: Node, inFunction: boolean, depth: number) => {
    if (symbols.size >= maxSymbols) return
    const name = definedName(node)
    if (name !== null && !(inFunction && isVariable(node))) symbols.add(name)
    if (depth >= maxSymbolDepth || (!spansLines(node) && !isWrapper(node))) return
    const inside = inFunction || isFunctionNode(node)
    for (const child of node.namedChildren) if (child !== null) visit(child, inside, depth + 1)
  }
  for (const { node, inFunction, opens } of nodes) {
    if (opens !== null) symbols.add(opens)
    visit(node, inFunction, 0)
  }
  return [...symbols]
}

/** Joins neighbours of the same definition up to `mergeWeight`, and crumbs with whatever is before them. */
function mergeSpans(spans: readonly LineSpan[], { lines, limits }: CodeText): LineSpan[] {
  const merged: LineSpan[] = []
  for (const span of spans) {
    const last = merged.at(-1)
    if (last === undefined || !joins(last, span)) {
      merged.push({ ...span })
    } else {
      last.to = span.to
      last.symbols = [...new Set([...last.symbols, ...span.symbols])].slice(0, maxSymbols)
      if (span.header.length < last.header.length) last.header = span.header
    }
  }
  return merged

  function joins(last: LineSpan, next: LineSpan): boolean {
    const together = lines.weight(last.from, next.to)
    if (together > limits.maxWeight) return false
    if (last.header === next.header) return together <= limits.mergeWeight
    // What opens a definition goes with what follows it, a closing brace with what it closes.
    if (lines.weight(last.from, last.to) < crumbWeight) return true
    return next.symbols.length === 0 && lines.weight(next.from, next.to) < crumbWeight
  }
}

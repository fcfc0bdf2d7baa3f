import type { Node, Parser } from 'web-tree-sitter'

/** A question made from a docstring, and the definition it was taken from. */
export interface DocstringPair {
  question: string
  path: string
  /** one-based line of the definition in the text without docstrings */
  line: number
  name: string
}

export interface StrippedFile {
  path: string
  /** the file without the docstrings of its definitions, so that no question can be found verbatim */
  text: string
  pairs: DocstringPair[]
}

const definition =
  /^(function_declaration|function_signature|generator_function_declaration|method_definition|method_signature|public_field_definition|class_declaration|abstract_class_declaration|interface_declaration|type_alias_declaration|lexical_declaration|export_statement|function_definition|class_definition|decorated_definition)$/

/** Takes the docstrings out of a JavaScript, TypeScript or Python file. */
export function stripDocstrings(parser: Parser, path: string, text: string): StrippedFile {
  const tree = parser.parse(text)
  if (tree === null) return { path, text, pairs: [] }
  const found: { from: number; to: number; question: string | null; definition: Node; name: string }[] = []
  visit(tree.rootNode)
  found.sort((left, right) => left.from - right.from)
  let stripped = ''
  let at = 0
  const pairs: DocstringPair[] = []
  const removedBefore: [offset: number, lines: number][] = []
  let removedLines = 0
  for (const item of found) {
    if (item.from < at) continue
    // The whole lines of the docstring go when nothing else is on them.
    const lineFrom = text.lastIndexOf('\n', item.from - 1) + 1
    const lineEnd = text.indexOf('\n', item.to)
    const lineTo = lineEnd === -1 ? text.length : lineEnd + 1
    const alone = text.slice(lineFrom, item.from).trim() === '' && text.slice(item.to, lineTo).trim() === ''
    const [from, to] = alone && lineFrom >= at ? [lineFrom, lineTo] : [item.from, item.to]
    stripped += text.slice(at, from)
    at = to
    removedLines += text.slice(from, to).split('\n').length - 1
    removedBefore.push([to, removedLines])
  }
  stripped += text.slice(at)
  for (const item of found) {
    if (item.question === null) continue
    let removed = 0
    for (const [offset, lines] of removedBefore) if (offset <= item.definition.startIndex + 1) removed = lines
    pairs.push({
      question: item.question,
      path,
      line: item.definition.startPosition.row + 1 - removed,
      name: item.name,
    })
  }
  tree.delete()
  return { path, text: stripped, pairs }

  function visit(node: Node): void {
    const children = node.namedChildren
    for (const [index, child] of children.entries()) {
      if (child === null) continue
      const next = children[index + 1]
      if (child.type === 'comment' && child.text.startsWith('/**') && next && definition.test(next.type))
        take(child, next)
      if (child.type === 'function_definition' || child.type === 'class_definition') takePython(child)
      if (child.endPosition.row > child.startPosition.row) visit(child)
    }
  }
  function take(comment: Node, target: Node): void {
    const name = nameOf(target)
    const question =
      name === null || !isCode(target)
        ? null
        : questionOf(comment.text.replace(/^\/\*\*|\*\/$/g, '').replace(/^[ \t]*\*[ \t]?/gm, ''))
    found.push({
      from: comment.startIndex,
      to: comment.endIndex,
      question,
      definition: target,
      name: name ?? '',
    })
  }
  function takePython(target: Node): void {
    const first = target.childForFieldName('body')?.namedChildren[0]
    if (first?.type !== 'expression_statement' || first.namedChildren[0]?.type !== 'string') return
    const name = nameOf(target)
    const question =
      name === null ? null : questionOf(first.text.replace(/^[rbuRBU]*("""|'''|"|')|("""|'''|"|')$/g, ''))
    found.push({ from: first.startIndex, to: first.endIndex, question, definition: target, name: name ?? '' })
  }
}

/** Whether a definition has a body that a question can be about; types and fields are often named by the question itself. */
function isCode(node: Node): boolean {
  if (
    /^(function_declaration|generator_function_declaration|method_definition|class_declaration|abstract_class_declaration)$/.test(
      node.type,
    )
  )
    return true
  if (node.type === 'variable_declarator')
    return /function|arrow|class/.test(node.childForFieldName('value')?.type ?? '')
  return (
    /^(export_statement|lexical_declaration)$/.test(node.type) &&
    node.namedChildren.some((child) => child !== null && isCode(child))
  )
}

function nameOf(node: Node): string | null {
  const direct = node.childForFieldName('name')
  if (direct !== null) return direct.text
  const inner =
    node.childForFieldName('declaration') ??
    node.namedChildren.find((child) => child?.type === 'variable_declarator') ??
    null
  return inner === null ? null : nameOf(inner)
}

/** First sentence of a docstring, without mark-up; `null` when it is no question somebody could ask. */
function questionOf(docstring: string): string | null {
  const body = docstring.split(/^\s*@\w+/m)[0] ?? ''
  const paragraph = body.trim().split(/\n\s*\n/)[0] ?? ''
  const plain = paragraph
    .replace(/\{@\w+\s+([^}]*)\}/g, '$1')
    .replace(/[`*_]/g, (mark) => (mark === '_' ? '_' : ''))
    .replace(/\s+/g, ' ')
  const sentence = (/^.*?[.!?](?=\s|$)/.exec(plain)?.[0] ?? plain).trim()
  const words = sentence.split(' ').length
  if (
    words < 4 ||
    words > 40 ||
    /https?:|deprecated|^(todo|internal|license|copyright|eslint)/i.test(sentence)
  )
    return null
  return sentence
}

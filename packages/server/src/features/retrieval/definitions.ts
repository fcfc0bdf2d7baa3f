import type { Node } from 'web-tree-sitter'

/** Longest signature and symbol kept, in characters: enough to recognise, not to repeat, a definition. */
const maxSignature = 120
const maxSymbol = 80

const definitionType =
  /(^|_)(declaration|definition|item|spec|declarator|specifier|signature|method|class|module|struct|interface|trait|object|type_alias|macro|decl)$/
const notDefinition =
  /import|package|parameter|use_declaration|lexical_declaration|^variable_declaration|export|argument|storage|array|pointer|init_declarator|parenthesized|abstract_declarator|type_parameter|namespace_use|extern_crate/
const leadingType =
  /comment|decorator|attribute_item|annotation|attribute_list|^attribute$|pragma|preproc_def/

/** What a definition node defines. `null`: the node is not one, or its name cannot be told. */
export function definedName(node: Node): string | null {
  const type = node.type
  if (type === 'assignment_expression' || type === 'assignment') return assignedName(node)
  if (type === 'pair')
    return isFunction(node.childForFieldName('value')) ? cleanName(node.childForFieldName('key')) : null
  if (type === 'impl_item') return cleanName(node.childForFieldName('type'))
  if (!definitionType.test(type) || notDefinition.test(type)) return null
  const name =
    node.childForFieldName('name') ??
    node.childForFieldName('property') ??
    declaratorName(node) ??
    bareName(node)
  return cleanName(name)
}

/** A comment, decorator or attribute: belongs to what follows it. */
export function leadsNext(node: Node): boolean {
  return leadingType.test(node.type)
}

export function isFunctionNode(node: Node): boolean {
  return /function|method|arrow|constructor|lambda|closure/.test(node.type)
}

/** What only stands around a definition: `export const double = …` has its name three levels down. */
export function isWrapper(node: Node): boolean {
  return /^(export_statement|lexical_declaration|variable_declaration|decorated_definition|expression_statement)$/.test(
    node.type,
  )
}

/** A name bound to a value that is not a function or a class. */
export function isVariable(node: Node): boolean {
  return (
    /declarator|assignment|const_spec|var_spec|property/.test(node.type) &&
    !isFunction(node.childForFieldName('value'))
  )
}

/** The definition up to its body, on one line. */
export function signatureOf(node: Node): string {
  const body = node.childForFieldName('body') ?? bodyOfValue(node)
  const text = node.text
  const head =
    body === null ? (text.split('\n', 1)[0] ?? '') : text.slice(0, body.startIndex - node.startIndex)
  return head.replace(/\s+/g, ' ').trim().slice(0, maxSignature)
}

function bodyOfValue(node: Node): Node | null {
  const value =
    node.childForFieldName('value') ?? node.childForFieldName('right') ?? node.childForFieldName('type')
  return value?.childForFieldName('body') ?? null
}

/** Names of `exports.parse = function …`, `Router.prototype.find = …` and of constants at the top of a Python module. */
function assignedName(node: Node): string | null {
  const left = node.childForFieldName('left')
  if (left === null) return null
  if (left.type === 'member_expression') {
    return isFunction(node.childForFieldName('right')) ? cleanName(left.childForFieldName('property')) : null
  }
  return left.type === 'identifier' && node.parent?.parent?.type === 'module' ? cleanName(left) : null
}

function isFunction(node: Node | null): boolean {
  return node !== null && /function|class|arrow/.test(node.type)
}

/** C and C++ hide the name inside nested declarators. */
function declaratorName(node: Node): Node | null {
  let declarator = node.childForFieldName('declarator')
  for (let depth = 0; declarator !== null && depth < 6; depth += 1) {
    if (/identifier|operator_name|destructor_name/.test(declarator.type)) return declarator
    declarator = declarator.childForFieldName('declarator')
  }
  return null
}

/** Grammars without field names (Kotlin, Objective-C): the first identifier among the children. */
function bareName(node: Node): Node | null {
  if (!/^(function|class|object|property|protocol|method|struct|enum|contract|interface)_/.test(node.type))
    return null
  for (const child of node.namedChildren) {
    if (child !== null && /^(simple_identifier|type_identifier|identifier)$/.test(child.type)) return child
  }
  return null
}

function cleanName(node: Node | null): string | null {
  const name = node?.text.replace(/^["'#]+|["']+$/g, '') ?? ''
  return name === '' || name.length > maxSymbol || /[\s({[]/.test(name) ? null : name
}

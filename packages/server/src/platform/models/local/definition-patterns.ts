export type DefinitionKind = 'function' | 'class' | 'type' | 'value' | 'route' | 'table' | 'section'

interface Pattern {
  kind: DefinitionKind
  /** group 1 is the name */
  pattern: RegExp
  languages?: RegExp
}

const keyword =
  /^(if|for|while|switch|catch|return|function|await|else|do|try|with|new|throw|typeof|super|constructor)$/

/** First match wins. Patterns without languages hold for the C-like majority. */
const patterns: readonly Pattern[] = [
  { kind: 'section', pattern: /^#{1,4}\s+(.{2,100}?)\s*#*$/, languages: /markdown|^md/ },
  {
    kind: 'table',
    pattern:
      /^\s*create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?:table|view|index|function|type|policy|trigger)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/i,
  },
  {
    kind: 'function',
    pattern: /^\s*(?:async\s+)?def\s+(?:self\.)?([\w?!]+)/,
    languages: /python|ruby|^py|^rb/,
  },
  { kind: 'class', pattern: /^\s*(?:class|module)\s+(\w+(?:::\w+)*)/, languages: /python|ruby|^py|^rb/ },
  { kind: 'function', pattern: /^func\s+(?:\([^)]*\)\s*)?(\w+)/, languages: /^go/ },
  { kind: 'type', pattern: /^type\s+(\w+)\s+(?:struct|interface|func|map|\w)/, languages: /^go/ },
  { kind: 'function', pattern: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+(\w+)/ },
  { kind: 'type', pattern: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|trait|union)\s+(\w+)/ },
  { kind: 'class', pattern: /^\s*impl(?:<[^>]*>)?\s+([\w:<>, ]+?)\s*(?:where\b.*)?\{/ },
  {
    kind: 'function',
    pattern: /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)/,
  },
  {
    kind: 'class',
    pattern:
      /^\s*(?:export\s+|public\s+|private\s+|internal\s+|final\s+|sealed\s+|open\s+|data\s+|static\s+|abstract\s+|default\s+|declare\s+)*class\s+([\w$]+)/,
  },
  {
    kind: 'type',
    pattern:
      /^\s*(?:export\s+|public\s+|private\s+|internal\s+|declare\s+|const\s+)*(?:interface|enum|protocol|record)\s+([\w$]+)/,
  },
  { kind: 'type', pattern: /^\s*(?:export\s+)?(?:declare\s+)?type\s+([\w$]+)\s*(?:<[^=]*>)?\s*=/ },
  {
    kind: 'route',
    pattern:
      /\b(?:app|router|server|fastify|instance|api|route)\.((?:get|post|put|patch|delete|all|route)\s*\(\s*['"`][^'"`]{1,80})/,
  },
  {
    kind: 'function',
    pattern:
      /^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)/,
  },
  {
    kind: 'function',
    pattern:
      /^\s*(?:module\.)?(?:exports|[\w$]+\.prototype|[\w$]+)\.([\w$]+)\s*=\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>)/,
  },
  {
    kind: 'value',
    pattern: /^(?:export\s+)?(?:const|let|var|val|static)\s+(?:mut\s+)?([\w$]+)\s*(?::[^=]+)?=/,
  },
  {
    kind: 'function',
    pattern:
      /^\s*(?:(?:public|private|protected|internal|open|override|inline|suspend|static|final|mutating)\s+)*(?:fun|func)\s+(?:<[^>]*>\s*)?([\w.]+)\s*[(<]/,
  },
  {
    kind: 'function',
    pattern:
      /^\s{1,12}(?:(?:public|private|protected|static|readonly|override|async|get|set)\s+)*[*#]?([\w$]+)\s*(?:<[^>]*>)?\([^;{}]*\)?[^;=]*\{\s*$/,
  },
  {
    kind: 'function',
    pattern:
      /^\s*(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|async|synchronized|unsafe)\s+)+[\w<>[\],.?\s]+?\s+(\w+)\s*\(/,
  },
  {
    kind: 'function',
    pattern: /^(?:[\w*&:<>,]+\s+)+[*&]*([\w:~]+)\s*\([^;]*\)\s*(?:const\s*)?\{?\s*$/,
    languages: /^c$|cpp|c\+\+|^cc|objective/,
  },
  { kind: 'function', pattern: /^(?:function\s+)?([\w-]+)\s*\(\)\s*\{/, languages: /shell|bash|^sh/ },
]

/** Definitions stand on short lines; the patterns below are not made for long ones. */
export const longestLine = 240

/** What a line defines, if it does. */
export function matchLine(
  line: string,
  language: string,
): { kind: DefinitionKind; name: string } | undefined {
  if (line.length > longestLine || line.trim() === '') return undefined
  for (const { kind, pattern, languages } of patterns) {
    if (languages !== undefined && !languages.test(language)) continue
    const name = pattern.exec(line)?.[1]?.trim()
    if (name === undefined || keyword.test(name)) continue
    return { kind, name: kind === 'route' ? name.replace(/\s*\(\s*['"`]/, ' ') : name }
  }
  return undefined
}

import { tagHighlighter, tags } from '@lezer/highlight'

/** Syntax tags to the classes that `base.css` colours; one list for the editor and for code in answers. */
export const syntaxClasses = tagHighlighter([
  { tag: tags.comment, class: 'tok-comment' },
  { tag: [tags.meta, tags.processingInstruction], class: 'tok-meta' },
  { tag: [tags.keyword, tags.modifier, tags.self], class: 'tok-keyword' },
  { tag: [tags.bool, tags.null, tags.atom], class: 'tok-bool' },
  { tag: [tags.string, tags.special(tags.string), tags.character, tags.docString], class: 'tok-string' },
  { tag: [tags.regexp, tags.escape], class: 'tok-string2' },
  { tag: [tags.number, tags.literal, tags.unit, tags.color], class: 'tok-number' },
  { tag: [tags.typeName, tags.className, tags.namespace], class: 'tok-typeName' },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.function(tags.definition(tags.variableName)),
      tags.macroName,
      tags.labelName,
    ],
    class: 'tok-function',
  },
  { tag: [tags.propertyName, tags.attributeName], class: 'tok-propertyName' },
  { tag: tags.tagName, class: 'tok-tagName' },
  { tag: [tags.operator, tags.punctuation, tags.bracket, tags.separator], class: 'tok-operator' },
  { tag: tags.heading, class: 'tok-heading' },
  { tag: tags.strong, class: 'tok-strong' },
  { tag: tags.emphasis, class: 'tok-emphasis' },
  { tag: [tags.link, tags.url], class: 'tok-link' },
  { tag: tags.inserted, class: 'tok-inserted' },
  { tag: tags.deleted, class: 'tok-deleted' },
  { tag: tags.invalid, class: 'tok-invalid' },
])

import { memo, useMemo } from 'react'
import Markdown, { type Components, type Options } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { useWorkspaceFiles } from '../files/file-tree-context.tsx'
import styles from './chat.module.css'
import { CitationChip } from './citation-chip.tsx'
import { CodeBlock } from './code-block.tsx'
import { splitMarkdownBlocks } from './markdown-blocks.ts'
import { createPathResolver, type PathResolver } from './places.ts'
import { rehypePlaces } from './rehype-places.ts'

/** An answer as Markdown; the files of the workspace that it names are chips. */
export function AnswerMarkdown({ text }: { text: string }) {
  const { tree } = useWorkspaceFiles()
  const resolve = useMemo(() => createPathResolver(tree.files), [tree.files])
  const blocks = useMemo(() => splitMarkdownBlocks(text), [text])
  return (
    <div className={styles.markdown}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <MarkdownBlock key={index} text={block} resolve={resolve} />
      ))}
    </div>
  )
}

const remarkPlugins: Options['remarkPlugins'] = [remarkGfm]

const MarkdownBlock = memo(function MarkdownBlock({
  text,
  resolve,
}: {
  text: string
  resolve: PathResolver
}) {
  const rehypePlugins = useMemo<Options['rehypePlugins']>(() => [[rehypePlaces, { resolve }]], [resolve])
  return (
    <Markdown remarkPlugins={remarkPlugins} rehypePlugins={rehypePlugins} components={components}>
      {text}
    </Markdown>
  )
})

/**
 * Links leave the page in a tab of their own. Pictures are links too: an answer must not make the browser fetch an
 * address, which could carry what the answer has read.
 */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || 'picture'}
    </a>
  ),
  pre: ({ node }) => {
    const code = node?.children[0]
    if (code?.type !== 'element') return null
    const text = code.children.map((child) => ('value' in child ? child.value : '')).join('')
    const names = code.properties.className
    const info = Array.isArray(names) ? String(names[0] ?? '').replace(/^language-/, '') : ''
    const meta = (code.data as { meta?: string } | undefined)?.meta ?? ''
    return <CodeBlock code={text.replace(/\n$/, '')} info={info} meta={meta} />
  },
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by keys
    <section className={styles.table} aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  span: ({ node, children }) => {
    const { dataPath, dataStart, dataEnd } = node?.properties ?? {}
    if (typeof dataPath !== 'string') return <span>{children}</span>
    const lines = dataStart === undefined ? null : { start: Number(dataStart), end: Number(dataEnd) }
    return <CitationChip path={dataPath} lines={lines} />
  },
}

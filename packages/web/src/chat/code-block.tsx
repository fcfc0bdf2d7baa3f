import { SquareArrowOutUpRight } from 'lucide-react'
import { useWorkspaceFiles } from '../files/file-tree-context.tsx'
import { newId } from '../lib/new-id.ts'
import { useServices } from '../lib/services.tsx'
import { useIde } from '../shell/use-ide.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { HighlightedCode } from '../ui/highlighted-code.tsx'
import styles from './chat.module.css'

import { createPathResolver, type Place, splitPlaces } from './places.ts'

export interface CodeBlockProps {
  code: string
  /** the first word after the fence: a language, or a place as `src/a.ts:12-40` */
  info: string
  /** the words after it */
  meta: string
}

/** A code block of an answer: copies, and opens in the editor: at its place if it names one, else on its own. */
export function CodeBlock({ code, info, meta }: CodeBlockProps) {
  const { tree } = useWorkspaceFiles()
  const { openFile, openScratch, location } = useIde()
  const tabs = useServices().tabs.of(location.workspaceId)
  const place = placeIn(`${info} ${meta}`, tree.files)
  const language = place !== null && info.includes('.') ? (place.path.split('.').at(-1) ?? '') : info

  const open = () => {
    if (place !== null) return openFile(place.path, place.lines)
    const id = newId()
    const title = `answer.${extensionOf(language)}`
    tabs.set((current) => ({
      ...current,
      tabs: [...current.tabs, { kind: 'scratch', id, title, language, text: code }],
    }))
    openScratch(id)
  }
  const lines = place?.lines
  return (
    <figure className={styles.codeBlock}>
      <figcaption>
        <span>{place === null ? language || 'text' : nameOf(place)}</span>
        <IconButton
          icon={SquareArrowOutUpRight}
          label="Open in editor"
          side="left"
          size={14}
          onClick={open}
        />
        <CopyButton label="Copy" text={code} />
      </figcaption>
      <HighlightedCode
        scrolls
        code={code}
        language={language}
        {...(lines ? { firstLine: lines.start } : {})}
      />
    </figure>
  )
}

function placeIn(info: string, files: readonly string[]): Place | null {
  if (!/[.:/]/.test(info)) return null
  const resolve = createPathResolver(files)
  const found = splitPlaces(info.replace(/\b(?:path|file|title)=/g, ''), resolve).find(
    (part) => typeof part !== 'string',
  )
  if (found !== undefined) return found
  for (const word of info.split(/[\s="']+/)) {
    const path = word.includes('.') ? resolve(word) : null
    if (path !== null) return { path, lines: null }
  }
  return null
}

function nameOf({ path, lines }: Place): string {
  if (lines === null) return path
  return lines.start === lines.end ? `${path}:${lines.start}` : `${path}:${lines.start}-${lines.end}`
}

const extensions: Record<string, string> = {
  typescript: 'ts',
  javascript: 'js',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  bash: 'sh',
  shell: 'sh',
  markdown: 'md',
  '': 'txt',
  text: 'txt',
}

/** The ending by which the editor knows the language again. */
function extensionOf(language: string): string {
  const name = language.toLowerCase()
  return extensions[name] ?? name.replaceAll(/[^a-z0-9+#]/g, '')
}

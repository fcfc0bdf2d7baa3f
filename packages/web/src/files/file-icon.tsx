import { Braces, File, FileCode2, FileCog, FileText, Image, type LucideIcon } from 'lucide-react'
import styles from './files.module.css'

const kinds: readonly (readonly [pattern: RegExp, icon: LucideIcon, tone: string])[] = [
  [/\.(test|spec)\.[cm]?[jt]sx?$/i, FileCode2, 'test'],
  [/\.[cm]?tsx?$/i, FileCode2, 'blue'],
  [/\.[cm]?jsx?$/i, FileCode2, 'yellow'],
  [
    /\.(py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|scala|lua|dart|ex|exs|hs|zig|vue|svelte)$/i,
    FileCode2,
    'green',
  ],
  [/\.(sh|bash|zsh|fish|ps1|bat)$/i, FileCode2, 'green'],
  [/\.(css|scss|sass|less)$/i, FileCode2, 'violet'],
  [/\.(html?|xml|svg)$/i, FileCode2, 'red'],
  [/\.(json|jsonc|json5)$/i, Braces, 'yellow'],
  [/\.(sql|graphql|proto)$/i, FileCode2, 'violet'],
  [/\.(md|mdx|txt|rst|adoc)$/i, FileText, 'plain'],
  [/\.(png|jpe?g|gif|webp|ico|avif)$/i, Image, 'plain'],
  [/(^\.|\.(ya?ml|toml|ini|conf|cfg|lock|env)$|^(Makefile|Dockerfile)$)/i, FileCog, 'plain'],
]

export function FileIcon({ name }: { name: string }) {
  const [, Icon, tone] = kinds.find(([pattern]) => pattern.test(name)) ?? [null, File, 'plain']
  return <Icon size={14} strokeWidth={1.75} className={styles.fileIcon} data-tone={tone} aria-hidden />
}

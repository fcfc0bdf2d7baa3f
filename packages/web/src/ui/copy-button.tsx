import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './notice.module.css'

/** How long the tick stays after a copy, in milliseconds. */
const tickMs = 1_600

export interface CopyButtonProps {
  label: string
  /** a function where the text is made only when it is asked for */
  text: string | (() => string)
  /** shown beside the icon, e.g. the id that is copied */
  caption?: string
}

export function CopyButton({ label, text, caption }: CopyButtonProps) {
  const { copied, copy } = useCopy(text)
  const name = copied ? 'Copied' : label
  if (caption === undefined)
    return <IconButton icon={copied ? Check : Copy} label={name} side="left" size={14} onClick={copy} />
  const Icon = copied ? Check : Copy
  return (
    <button
      type="button"
      className={styles.copy}
      aria-label={`${name}: ${caption}`}
      title={name}
      onClick={copy}
    >
      <code>{caption}</code>
      <Icon size={12} aria-hidden />
    </button>
  )
}

/** Copies to the clipboard; `copied` holds for a moment after. */
export function useCopy(text: string | (() => string)): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), tickMs)
    return () => clearTimeout(timer)
  }, [copied])
  return {
    copied,
    copy: () => void copyText(typeof text === 'string' ? text : text()).then(() => setCopied(true)),
  }
}

/** `navigator.clipboard` exists under TLS and on localhost only; a home server over plain HTTP needs the old way. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const host = document.querySelector('dialog[open]') ?? document.body
  host.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

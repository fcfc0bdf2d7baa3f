import { useEffect, useId, useRef, useState } from 'react'
import { errorLine } from '../ui/describe-error.ts'
import styles from './files.module.css'

interface TreeNameFieldProps {
  label: string
  initial: string
  faultOf: (name: string) => string | null
  /** rejects where the server refuses it */
  onName: (name: string) => Promise<void>
  onLeave: () => void
}

/** A name typed in the tree. Enter takes it, Escape leaves it; going elsewhere takes a name that can be used. */
export function TreeNameField({ label, initial, faultOf, onName, onLeave }: TreeNameFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const errorId = useId()
  const [name, setName] = useState(initial)
  const [fault, setFault] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const over = useRef(false)

  useEffect(() => {
    const dot = initial.lastIndexOf('.')
    input.current?.focus()
    // The ending usually stays.
    input.current?.setSelectionRange(0, dot > 0 ? dot : initial.length)
  }, [initial])

  const leave = () => {
    over.current = true
    onLeave()
  }
  const take = async () => {
    if (busy || over.current) return
    const wanted = name.trim()
    const wrong = wanted === '' ? 'A name is needed' : faultOf(wanted)
    if (wrong !== null) return setFault(wrong)
    setBusy(true)
    try {
      await onName(wanted)
      leave()
    } catch (error) {
      setFault(errorLine(error))
      setBusy(false)
    }
  }
  return (
    <span className={styles.nameField}>
      <input
        ref={input}
        aria-label={label}
        aria-invalid={fault !== null || undefined}
        aria-describedby={fault === null ? undefined : errorId}
        value={name}
        readOnly={busy}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setName(event.target.value)
          setFault(event.target.value.trim() === '' ? null : faultOf(event.target.value.trim()))
        }}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          // The tree has other uses for plain keys; shortcuts of the page work here too.
          if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
          if (event.key === 'Enter') void take()
          if (event.key === 'Escape') leave()
        }}
        onBlur={() => {
          if (name.trim() === '' || name === initial || fault !== null) leave()
          else void take()
        }}
      />
      {fault !== null && (
        <span id={errorId} role="alert">
          {fault}
        </span>
      )}
    </span>
  )
}

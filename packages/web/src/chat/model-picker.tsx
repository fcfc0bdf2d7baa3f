import { ChevronsUpDown } from 'lucide-react'
import { useCallback, useRef, useState } from 'react'
import { useModels } from '../lib/queries.ts'
import { useNarrow } from '../lib/use-media.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Popover } from '../ui/popover.tsx'
import styles from './chat.module.css'
import { modelName } from './model-choice.ts'
import { ModelList } from './model-list.tsx'

export interface ModelPickerProps {
  model: string
  onChoose: (key: string) => void
}

/** The button that names the model, and the list behind it. */
export function ModelPicker({ model, onChoose }: ModelPickerProps) {
  const catalog = useModels()
  const narrow = useNarrow()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const list = (
    <ModelList
      catalog={catalog}
      current={model}
      onChoose={(key) => {
        onChoose(key)
        setOpen(false)
        button.current?.focus()
      }}
    />
  )
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.modelButton}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={`Model: ${modelName(catalog.data, model)}`}
        onClick={() => setOpen(!open)}
      >
        <span>{modelName(catalog.data, model)}</span>
        <ChevronsUpDown size={12} aria-hidden />
      </button>
      {open && narrow && (
        <Dialog title="Choose a model" size="wide" bare onClose={close}>
          {list}
        </Dialog>
      )}
      {open && !narrow && (
        <Popover anchor={button} label="Choose a model" className={styles.models} onClose={close}>
          {list}
        </Popover>
      )}
    </>
  )
}

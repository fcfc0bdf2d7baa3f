import { maxMessageLength } from '@atelier/contract'
import { ArrowUp, Paperclip, Square, Wrench, X } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { useModels } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { type Store, useStore } from '../lib/store.ts'
import { useIde } from '../shell/use-ide.ts'
import { IconButton } from '../ui/button.tsx'
import styles from './chat.module.css'
import { ModelPicker } from './model-picker.tsx'

export interface ComposerProps {
  draft: Store<string>
  model: string
  busy: boolean
  /** the conversation is not read yet */
  disabled: boolean
  onModel: (key: string) => void
  onAsk: (question: string, files: readonly string[]) => void
  onStop: () => void
}

/** Where the question is written. Enter asks, Shift-Enter makes a line. */
export function Composer({ draft, model, busy, disabled, onModel, onAsk, onStop }: ComposerProps) {
  const { location } = useIde()
  const text = useStore(draft)
  const [files, setFiles] = useState<string[]>([])
  const canSend = text.trim() !== '' && !busy && !disabled
  const openFile = location.file
  const canAttach = openFile !== null && !files.includes(openFile)

  const send = () => {
    if (!canSend) return
    onAsk(text.trim(), files)
    draft.set('')
    setFiles([])
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {files.length > 0 && (
        <div className={styles.attached}>
          {files.map((file) => (
            <span key={file} className={styles.attachment} title={file}>
              {nameOf(file)}
              <button
                type="button"
                aria-label={`Leave out ${file}`}
                onClick={() => setFiles(files.filter((each) => each !== file))}
              >
                <X size={12} aria-hidden />
              </button>
            </span>
          ))}
        </div>
      )}
      <textarea
        id="question"
        aria-label="Ask about this workspace"
        placeholder="Ask about this workspace"
        rows={1}
        value={text}
        maxLength={maxMessageLength}
        onChange={(event) => draft.set(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.composerFoot}>
        <ModelPicker model={model} onChoose={onModel} />
        <ToolsToggle model={model} />
        {canAttach && (
          <button
            type="button"
            className={styles.attach}
            aria-label={`Ask about ${openFile}`}
            title={`Send ${openFile} along with the question`}
            onClick={() => setFiles([...files, openFile])}
          >
            <Paperclip size={12} aria-hidden />
            <span>{nameOf(openFile)}</span>
          </button>
        )}
        <span className={styles.spring} />
        {busy ? (
          <button type="button" className={styles.send} aria-label="Stop" onClick={onStop}>
            <Square size={12} fill="currentColor" aria-hidden />
          </button>
        ) : (
          <button type="submit" className={styles.send} aria-label="Ask" disabled={!canSend}>
            <ArrowUp size={16} aria-hidden />
          </button>
        )}
      </div>
    </form>
  )
}

/** Whether the model may look into the files by itself: better answers, for more tokens. */
function ToolsToggle({ model }: { model: string }) {
  const { chats } = useServices()
  const on = useStore(chats.tools)
  const { data: catalog } = useModels()
  if (catalog?.models.find(({ key }) => key === model)?.capabilities.tools !== true) return null
  return (
    <IconButton
      icon={Wrench}
      label="The model may look into the files"
      side="top"
      size={14}
      aria-pressed={on}
      onClick={() => chats.tools.set(!on)}
    />
  )
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

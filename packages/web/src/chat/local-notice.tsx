import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import styles from './chat.module.css'

const keyNames = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'MISTRAL_API_KEY',
] as const

/** Says that no language model answered, and how to get one. */
export function LocalNotice() {
  const [open, setOpen] = useState(false)
  return (
    <div className={styles.localNotice}>
      No language model is connected.
      <Button variant="quiet" onClick={() => setOpen(true)}>
        Connect one
      </Button>
      {open && <AddKey onClose={() => setOpen(false)} />}
    </div>
  )
}

function AddKey({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Connect a language model" onClose={onClose}>
      <DialogBody>
        <p>
          Whoever runs this server adds a provider’s key to its environment, or to the file <code>.env</code>{' '}
          beside it, and starts it again:
        </p>
        <pre className={styles.keys}>{keyNames.map((name) => `${name}=…`).join('\n')}</pre>
        <p>
          To keep everything on your own machines, start Ollama, LM Studio or a llama.cpp server on the same
          machine: it is found on its usual port.
        </p>
        <p>Keys stay on the server; no browser ever sees them.</p>
      </DialogBody>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  )
}

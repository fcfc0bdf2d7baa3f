import type { StoredChat } from '@atelier/contract'
import { Ellipsis, FileJson, FileText, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { MenuButton } from '../ui/menu.tsx'
import { DeleteChat } from './delete-chat.tsx'
import { exportJson, exportMarkdown } from './export-chat.ts'
import { RenameChat } from './rename-chat.tsx'

interface ChatMenuProps {
  chat: StoredChat
  label: string
  /** the chat that is shown was deleted */
  onDeleted: () => void
}

/** What can be done with a stored chat. */
export function ChatMenu({ chat, label, onDeleted }: ChatMenuProps) {
  const { client, toasts } = useServices()
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null)
  const close = () => setDialog(null)
  const save = (saving: Promise<void>) => {
    saving.catch((error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) }))
  }
  return (
    <>
      <MenuButton
        icon={Ellipsis}
        label={label}
        side="left"
        items={[
          { label: 'Rename', icon: Pencil, run: () => setDialog('rename') },
          { label: 'Save as Markdown', icon: FileText, run: () => save(exportMarkdown(client, chat.id)) },
          { label: 'Save as JSON', icon: FileJson, run: () => save(exportJson(client, chat.id)) },
          { label: 'Delete', icon: Trash2, danger: true, run: () => setDialog('delete') },
        ]}
      />
      {dialog === 'rename' && <RenameChat chat={chat} onClose={close} />}
      {dialog === 'delete' && <DeleteChat chat={chat} onClose={close} onDeleted={onDeleted} />}
    </>
  )
}

import { deleteChat, type StoredChat } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { useUser } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'

interface DeleteChatProps {
  chat: StoredChat
  onClose: () => void
  onDeleted: () => void
}

export function DeleteChat({ chat, onClose, onDeleted }: DeleteChatProps) {
  const { client, queryClient, chats, toasts } = useServices()
  const { workspaceId } = useIde().location
  const userId = useUser().id
  const deleting = useMutation({
    mutationFn: () => client.call(deleteChat, { query: { chatId: chat.id } }),
    onSuccess: async () => {
      onClose()
      onDeleted()
      chats.forget({ userId, workspaceId, chatId: chat.id })
      toasts.show({ text: `“${chat.title}” is deleted` })
      await queryClient.invalidateQueries({ queryKey: ['chats'] })
    },
  })
  return (
    <Dialog title="Delete this chat?" onClose={onClose}>
      <DialogBody>
        <p>
          “{chat.title}” goes with all its messages
          {chat.runId !== null && ', and the answer in the making is stopped'}. This cannot be undone; what it
          has cost stays in your usage.
        </p>
        {deleting.isError && <ErrorNotice error={deleting.error} kept="Nothing was deleted." />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="danger" busy={deleting.isPending} onClick={() => deleting.mutate()}>
          Delete chat
        </Button>
      </DialogActions>
    </Dialog>
  )
}

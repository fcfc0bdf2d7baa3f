import { maxTitleLength, renameChat, type StoredChat } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'

export function RenameChat({ chat, onClose }: { chat: StoredChat; onClose: () => void }) {
  const { client, queryClient } = useServices()
  const formId = useId()
  const renaming = useMutation({
    mutationFn: (title: string) => client.call(renameChat, { body: { chatId: chat.id, title } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['chats'] })
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    renaming.mutate(String(new FormData(event.currentTarget).get('title')))
  }
  return (
    <Dialog title="Rename chat" onClose={onClose}>
      <DialogBody>
        <form id={formId} onSubmit={submit} noValidate>
          <TextField
            label="Title"
            name="title"
            defaultValue={chat.title}
            autoComplete="off"
            maxLength={maxTitleLength}
            error={issueFor(renaming.error, 'title')}
            onFocus={(event) => event.target.select()}
          />
        </form>
        {renaming.isError && !isFieldError(renaming.error) && <ErrorNotice error={renaming.error} />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form={formId} variant="primary" busy={renaming.isPending}>
          Rename
        </Button>
      </DialogActions>
    </Dialog>
  )
}

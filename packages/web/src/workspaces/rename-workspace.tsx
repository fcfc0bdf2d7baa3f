import { renameWorkspace, type Workspace } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'

export function RenameWorkspace({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { client, queryClient } = useServices()
  const formId = useId()
  const renaming = useMutation({
    mutationFn: (name: string) =>
      client.call(renameWorkspace, { params: { workspaceId: workspace.id }, body: { name } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    renaming.mutate(String(new FormData(event.currentTarget).get('name')))
  }
  return (
    <Dialog title="Rename workspace" onClose={onClose}>
      <DialogBody>
        <form id={formId} onSubmit={submit} noValidate>
          <TextField
            label="Name"
            name="name"
            defaultValue={workspace.name}
            autoComplete="off"
            maxLength={100}
            error={issueFor(renaming.error, 'name')}
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

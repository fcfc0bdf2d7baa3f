import { deleteWorkspace, type Workspace } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'

/** Deletes for good, so the name must be typed. */
export function DeleteWorkspace({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { client, queryClient, toasts } = useServices()
  const [, navigate] = useLocation()
  const formId = useId()
  const [typed, setTyped] = useState('')
  const deleting = useMutation({
    mutationFn: () => client.call(deleteWorkspace, { params: { workspaceId: workspace.id } }),
    onSuccess: async () => {
      onClose()
      navigate('/')
      toasts.show({ text: `“${workspace.name}” is deleted` })
      queryClient.removeQueries({ queryKey: ['workspace', workspace.id] })
      await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed === workspace.name) deleting.mutate()
  }
  return (
    <Dialog title={`Delete “${workspace.name}”?`} onClose={onClose}>
      <DialogBody>
        <p>
          Its files, its search index and its members’ access go with it, for everybody. This cannot be
          undone.
        </p>
        <form id={formId} onSubmit={submit}>
          <TextField
            label={`Type “${workspace.name}” to confirm`}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </form>
        {deleting.isError && <ErrorNotice error={deleting.error} kept="Nothing was deleted." />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          form={formId}
          variant="danger"
          disabled={typed !== workspace.name}
          busy={deleting.isPending}
        >
          Delete workspace
        </Button>
      </DialogActions>
    </Dialog>
  )
}

import { createWorkspace } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { useLocation } from 'wouter'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'

export function CreateWorkspace({ onClose }: { onClose: () => void }) {
  const { client, queryClient } = useServices()
  const [, navigate] = useLocation()
  const formId = useId()
  const creating = useMutation({
    mutationFn: (name: string) => client.call(createWorkspace, { body: { name } }),
    onSuccess: async (workspace) => {
      await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
      onClose()
      navigate(`/w/${workspace.id}/files`)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    creating.mutate(String(new FormData(event.currentTarget).get('name')))
  }
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <DialogBody>
        <form id={formId} onSubmit={submit} noValidate>
          <TextField
            label="Name"
            name="name"
            placeholder="e.g. billing-service"
            autoComplete="off"
            maxLength={100}
            required
            error={issueFor(creating.error, 'name')}
          />
        </form>
        {creating.isError && !isFieldError(creating.error) && <ErrorNotice error={creating.error} />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form={formId} variant="primary" busy={creating.isPending}>
          Create workspace
        </Button>
      </DialogActions>
    </Dialog>
  )
}

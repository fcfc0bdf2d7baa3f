import { importIntoWorkspace } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { TextField } from '../ui/field.tsx'
import styles from './import-target.module.css'

interface GitImportProps {
  workspaceId: string
  /** the repository may become the root; else it needs a folder of its own */
  isEmpty: boolean
  onClose: () => void
}

/** Clones a repository into the workspace; its progress and its end are shown as those of any import. */
export function GitImport({ workspaceId, isEmpty, onClose }: GitImportProps) {
  const { client, imports } = useServices()
  const formId = useId()
  const cloning = useMutation({
    mutationFn: (form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? '').trim()
      const gitUrl = text('gitUrl')
      const branch = text('branch')
      const path = text('path') || (isEmpty ? '' : folderOf(gitUrl))
      return client.call(importIntoWorkspace, {
        params: { workspaceId },
        body: { gitUrl, path, ...(branch === '' ? {} : { branch }) },
      })
    },
    onSuccess: ({ job }) => {
      onClose()
      void imports.of(workspaceId).follow(job)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    cloning.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog title="Import from Git" onClose={onClose}>
      <DialogBody>
        <form id={formId} onSubmit={submit} noValidate className={styles.choices}>
          <TextField
            label="Address"
            name="gitUrl"
            type="url"
            placeholder="https://github.com/owner/repository.git"
            autoComplete="off"
            hint="Public, by https. It is cloned inside the workspace, from hosts it may reach."
            error={issueFor(cloning.error, 'gitUrl')}
          />
          <TextField
            label="Branch or tag"
            name="branch"
            placeholder="the default branch"
            autoComplete="off"
            error={issueFor(cloning.error, 'branch')}
          />
          <TextField
            label="Folder"
            name="path"
            placeholder={isEmpty ? 'the root of the workspace' : 'named as the repository'}
            autoComplete="off"
            error={issueFor(cloning.error, 'path')}
          />
        </form>
        {cloning.isError && !isFieldError(cloning.error) && (
          <ErrorNotice error={cloning.error} kept="Nothing was changed." />
        )}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form={formId} variant="primary" busy={cloning.isPending}>
          Import
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** `https://host/owner/shop.git` becomes `shop`. */
export function folderOf(gitUrl: string): string {
  const last = gitUrl.replace(/\/+$/, '').split('/').at(-1) ?? ''
  return last.replace(/\.git$/, '')
}

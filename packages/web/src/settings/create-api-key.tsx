import { createApiKey, type Scope, scopes } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Checkbox, SelectField, TextField } from '../ui/field.tsx'
import styles from './settings.module.css'

const scopeWords: Record<Scope, string> = {
  'workspaces:read': 'List and read workspaces',
  'workspaces:write': 'Create, change and delete workspaces',
  'files:read': 'Read files',
  'files:write': 'Import and change files',
  ai: 'Search and ask models',
  sessions: 'Terminals and editor sessions',
}

const lifetimes = [7, 30, 90, 365]
const usualLifetime = 90

/** Makes a key and shows it once. The dialog then closes by its button only, so that the key is not lost to a stray click. */
export function CreateApiKey({ onClose }: { onClose: () => void }) {
  const { client, queryClient } = useServices()
  const formId = useId()
  const creating = useMutation({
    mutationFn: (body: { name: string; scopes: Scope[]; expiresInDays: number }) =>
      client.call(createApiKey, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['api-keys'] }),
  })
  const { data, error } = creating
  if (data !== undefined) return <ShowKey apiKey={data.key} onClose={onClose} />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    creating.mutate({
      name: String(form.get('name')),
      scopes: form.getAll('scopes') as Scope[],
      expiresInDays: Number(form.get('days')),
    })
  }
  const scopesIssue = issueFor(error, 'scopes')
  return (
    <Dialog title="New API key" onClose={onClose}>
      <DialogBody>
        <form id={formId} className={styles.form} onSubmit={submit} noValidate>
          <TextField
            label="Name"
            name="name"
            placeholder="What uses it, e.g. nightly import"
            autoComplete="off"
            error={issueFor(error, 'name')}
          />
          <fieldset className={styles.scopes}>
            <legend>It may</legend>
            {scopes.map((scope) => (
              <Checkbox key={scope} name="scopes" value={scope} label={scopeWords[scope]} />
            ))}
            {scopesIssue !== undefined && <p role="alert">{scopesIssue}</p>}
          </fieldset>
          <SelectField
            label="Valid for"
            name="days"
            defaultValue={usualLifetime}
            error={issueFor(error, 'expiresInDays')}
          >
            {lifetimes.map((days) => (
              <option key={days} value={days}>
                {days} days
              </option>
            ))}
          </SelectField>
        </form>
        {creating.isError && !isFieldError(error) && <ErrorNotice error={error} />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form={formId} variant="primary" busy={creating.isPending}>
          Create key
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function ShowKey({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  return (
    <Dialog title="Your new key" onClose={onClose} dismissible={false}>
      <DialogBody>
        <p>Copy it now: it is not shown again.</p>
        <div className={styles.secret}>
          <code>{apiKey}</code>
          <CopyButton label="Copy the key" text={apiKey} />
        </div>
      </DialogBody>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      </DialogActions>
    </Dialog>
  )
}

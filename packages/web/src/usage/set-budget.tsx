import { type Body, setBudget } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useUser, useWorkspaces } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import styles from './usage.module.css'

type NewBudget = Body<typeof setBudget>

interface SetBudgetProps {
  /** who has asked models: people that can be chosen */
  userIds: readonly string[]
  onClose: () => void
}

/** Sets what calls may cost; a budget of the same subject and period is replaced. */
export function SetBudget({ userIds, onClose }: SetBudgetProps) {
  const { client, queryClient } = useServices()
  const formId = useId()
  const [subject, setSubject] = useState<'everyone' | 'workspace' | 'user'>('everyone')
  const setting = useMutation({
    mutationFn: (body: NewBudget) => client.call(setBudget, { body }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const cap = String(form.get('cap')).trim()
    const period = String(form.get('period')) as NewBudget['period']
    const subjectId = String(form.get('subjectId') ?? '')
    setting.mutate(subject === 'everyone' ? { subject, period, cap } : { subject, subjectId, period, cap })
  }
  const { error } = setting
  return (
    <Dialog title="New budget" onClose={onClose}>
      <DialogBody>
        <form id={formId} className={styles.form} onSubmit={submit} noValidate>
          <SelectField
            label="Whose calls count"
            name="subject"
            value={subject}
            onChange={(event) => setSubject(event.target.value as typeof subject)}
          >
            <option value="everyone">Everybody’s together</option>
            <option value="workspace">Those in one workspace</option>
            <option value="user">One person’s</option>
          </SelectField>
          {subject === 'workspace' && <WorkspaceField error={issueFor(error, 'subjectId')} />}
          {subject === 'user' && <PersonField userIds={userIds} error={issueFor(error, 'subjectId')} />}
          <SelectField label="In" name="period" defaultValue="month" error={issueFor(error, 'period')}>
            <option value="day">a day (UTC)</option>
            <option value="month">a month (UTC)</option>
            <option value="total">all time</option>
          </SelectField>
          <TextField
            label="At most, in USD"
            name="cap"
            inputMode="decimal"
            placeholder="20"
            autoComplete="off"
            error={issueFor(error, 'cap')}
            hint="A call that may cost more than what is left is refused. Another cap for the same replaces this one."
          />
        </form>
        {setting.isError && !isFieldError(error) && <ErrorNotice error={error} />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" form={formId} variant="primary" busy={setting.isPending}>
          Set budget
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function WorkspaceField({ error }: { error: string | undefined }) {
  const workspaces = useWorkspaces().data?.items ?? []
  return (
    <SelectField label="Workspace" name="subjectId" error={error}>
      {workspaces.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

function PersonField({ userIds, error }: { userIds: readonly string[]; error: string | undefined }) {
  const own = useUser().id
  return (
    <SelectField label="Person" name="subjectId" error={error}>
      {[own, ...userIds.filter((id) => id !== own)].map((id) => (
        <option key={id} value={id}>
          {id === own ? 'You' : id}
        </option>
      ))}
    </SelectField>
  )
}

import {
  addWorkspaceMember,
  changeWorkspaceMember,
  removeWorkspaceMember,
  type Workspace,
  type WorkspaceMember,
  type WorkspaceRole,
  workspaceRoles,
} from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { UserMinus } from 'lucide-react'
import { type FormEvent, useRef } from 'react'
import { useLocation } from 'wouter'
import { isFieldError, issueFor } from '../identity/field-errors.ts'
import { useMembers, useUser } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import styles from './workspaces.module.css'

/** Who belongs to a workspace. Owners add, change and remove; everybody may leave. */
export function Members({ workspace }: { workspace: Workspace }) {
  const members = useMembers(workspace.id)
  if (members.isPending) return <Loading label="Loading members" />
  if (members.isError) return <ErrorNotice error={members.error} onRetry={() => void members.refetch()} />
  return (
    <>
      <ul className={styles.members}>
        {members.data.items.map((member) => (
          <Member key={member.userId} member={member} workspace={workspace} />
        ))}
      </ul>
      {workspace.role === 'owner' && <AddMember workspaceId={workspace.id} />}
    </>
  )
}

function Member({ member, workspace }: { member: WorkspaceMember; workspace: Workspace }) {
  const { client, queryClient, toasts } = useServices()
  const [, navigate] = useLocation()
  const user = useUser()
  const params = { workspaceId: workspace.id, userId: member.userId }
  const isSelf = member.userId === user.id
  const onError = (error: unknown) => toasts.show({ tone: 'error', text: errorLine(error) })
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['workspace', workspace.id, 'members'] })
  const changing = useMutation({
    mutationFn: (role: WorkspaceRole) => client.call(changeWorkspaceMember, { params, body: { role } }),
    onSuccess: async () => {
      await refresh()
      if (isSelf) await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
    },
    onError,
  })
  const removing = useMutation({
    mutationFn: () => client.call(removeWorkspaceMember, { params }),
    onSuccess: async () => {
      if (!isSelf) return refresh()
      navigate('/')
      await queryClient.invalidateQueries({ queryKey: ['workspaces'] })
    },
    onError,
  })
  return (
    <li>
      <div className={styles.person}>
        {member.name}
        {isSelf && ' (you)'}
        <small>{member.email}</small>
      </div>
      <RoleSelect
        label={`Role of ${member.name}`}
        value={member.role}
        disabled={workspace.role !== 'owner' || changing.isPending}
        onChange={(role) => changing.mutate(role)}
      />
      {(workspace.role === 'owner' || isSelf) && (
        <IconButton
          icon={UserMinus}
          side="left"
          label={isSelf ? 'Leave this workspace' : `Remove ${member.name}`}
          disabled={removing.isPending}
          onClick={() => removing.mutate()}
        />
      )}
    </li>
  )
}

interface RoleSelectProps {
  label: string
  value: WorkspaceRole
  disabled: boolean
  onChange: (role: WorkspaceRole) => void
}

function RoleSelect({ label, value, disabled, onChange }: RoleSelectProps) {
  return (
    <select
      className={styles.role}
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value as WorkspaceRole)}
    >
      {workspaceRoles.map((role) => (
        <option key={role}>{role}</option>
      ))}
    </select>
  )
}

function AddMember({ workspaceId }: { workspaceId: string }) {
  const { client, queryClient } = useServices()
  const form = useRef<HTMLFormElement>(null)
  const adding = useMutation({
    mutationFn: (body: { email: string; role: WorkspaceRole }) =>
      client.call(addWorkspaceMember, { params: { workspaceId }, body }),
    onSuccess: async () => {
      form.current?.reset()
      await queryClient.invalidateQueries({ queryKey: ['workspace', workspaceId, 'members'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    adding.mutate({ email: String(fields.get('email')), role: fields.get('role') as WorkspaceRole })
  }
  return (
    <>
      <form ref={form} className={styles.invite} onSubmit={submit} noValidate>
        <TextField
          label="Add a person"
          name="email"
          type="email"
          placeholder="E-mail of an account here"
          autoComplete="off"
          error={issueFor(adding.error, 'email')}
        />
        <SelectField label="Role" name="role" defaultValue="editor">
          {workspaceRoles.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </SelectField>
        <Button type="submit" busy={adding.isPending} style={{ height: 'calc(var(--control) + 4px)' }}>
          Add
        </Button>
      </form>
      {adding.isError && !isFieldError(adding.error) && <ErrorNotice error={adding.error} />}
    </>
  )
}

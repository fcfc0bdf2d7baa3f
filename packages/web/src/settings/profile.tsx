import { LogOut } from 'lucide-react'
import { useSignOut } from '../identity/use-sign-out.ts'
import { formatDay } from '../lib/format.ts'
import { useUser } from '../lib/queries.ts'
import { Page, Section } from '../shell/page.tsx'
import { Button } from '../ui/button.tsx'
import { Badge } from '../ui/feedback.tsx'
import styles from './settings.module.css'

export function Profile() {
  const user = useUser()
  const signOut = useSignOut()
  return (
    <Page title="Profile">
      <Section title="Account">
        <dl className={styles.facts}>
          <dt>Name</dt>
          <dd>{user.name}</dd>
          <dt>E-mail</dt>
          <dd>{user.email}</dd>
          <dt>Role</dt>
          <dd>{user.role === 'admin' ? <Badge tone="accent">administrator</Badge> : 'member'}</dd>
          <dt>Here since</dt>
          <dd>{formatDay(user.createdAt)}</dd>
        </dl>
      </Section>
      <Section
        title="Session"
        lead="Signing out ends this browser’s session. Your chats are kept on the server."
      >
        <div>
          <Button icon={LogOut} busy={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        </div>
      </Section>
    </Page>
  )
}

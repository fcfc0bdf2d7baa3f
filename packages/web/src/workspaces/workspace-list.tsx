import type { Workspace } from '@atelier/contract'
import { FolderGit2, Plus, Search } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Link } from 'wouter'
import { formatAgo } from '../lib/format.ts'
import { useUser, useWorkspaces } from '../lib/queries.ts'
import { useNow } from '../lib/use-now.ts'
import { Page } from '../shell/page.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Badge, EmptyState, Loading } from '../ui/feedback.tsx'
import { CreateWorkspace } from './create-workspace.tsx'
import { WorkspaceMenu } from './workspace-menu.tsx'
import styles from './workspaces.module.css'

/** Lists longer than this get a box to narrow them down. */
const filterFrom = 8

export function WorkspaceList() {
  const workspaces = useWorkspaces()
  const [creating, setCreating] = useState(false)
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
      New workspace
    </Button>
  )
  const items = workspaces.data?.items
  return (
    <Page title="Workspaces" actions={items !== undefined && items.length > 0 ? create : undefined}>
      {workspaces.isPending && <Loading label="Loading workspaces" />}
      {workspaces.isError && (
        <ErrorNotice error={workspaces.error} onRetry={() => void workspaces.refetch()} />
      )}
      {items?.length === 0 && <FirstWorkspace create={create} />}
      {items !== undefined && items.length > 0 && <Rows workspaces={items} />}
      {creating && <CreateWorkspace onClose={() => setCreating(false)} />}
    </Page>
  )
}

function FirstWorkspace({ create }: { create: React.ReactNode }) {
  const user = useUser()
  return (
    <EmptyState icon={FolderGit2} title={`Welcome, ${user.name}`} actions={create}>
      <p>
        A workspace holds one project: its files, its search index and what you ask about it. Make one, then
        drop the project in.
      </p>
      {user.role === 'admin' && <p>You have the first account here, so you are the administrator.</p>}
    </EmptyState>
  )
}

function Rows({ workspaces }: { workspaces: Workspace[] }) {
  const [filter, setFilter] = useState('')
  const wanted = useDeferredValue(filter.trim().toLowerCase())
  const shown = workspaces.filter(({ name }) => name.toLowerCase().includes(wanted))
  const now = useNow(60_000)
  return (
    <>
      {workspaces.length >= filterFrom && (
        <label className={styles.filter}>
          <Search size={14} aria-hidden />
          <input
            type="search"
            placeholder="Filter workspaces"
            aria-label="Filter workspaces"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </label>
      )}
      <ul className={styles.list}>
        {shown.map((workspace) => (
          <li key={workspace.id} className={styles.row}>
            <Link href={`/w/${workspace.id}/files`} className={styles.name}>
              <FolderGit2 size={16} aria-hidden />
              <span>{workspace.name}</span>
            </Link>
            {workspace.role !== 'owner' && <Badge>{workspace.role}</Badge>}
            <time className={styles.time} dateTime={workspace.createdAt} title={workspace.createdAt}>
              created {formatAgo(workspace.createdAt, now)}
            </time>
            <WorkspaceMenu workspace={workspace} />
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className={styles.none}>No workspace is called “{filter}”.</p>}
    </>
  )
}

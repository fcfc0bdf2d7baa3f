import type { Workspace } from '@atelier/contract'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { formatMoment, formatNumber } from '../lib/format.ts'
import { useIndexState } from '../lib/queries.ts'
import { Page, Section } from '../shell/page.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Loading } from '../ui/feedback.tsx'
import { DeleteWorkspace } from './delete-workspace.tsx'
import { Members } from './members.tsx'
import { RenameWorkspace } from './rename-workspace.tsx'
import styles from './workspaces.module.css'

/** The settings of one workspace: its name, members, index, and its end. */
export function WorkspaceSettings({ workspace }: { workspace: Workspace }) {
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null)
  const isOwner = workspace.role === 'owner'
  const rename = (
    <Button icon={Pencil} onClick={() => setDialog('rename')}>
      Rename
    </Button>
  )
  return (
    <Page title={workspace.name} actions={isOwner ? rename : undefined}>
      <Section title="About">
        <dl className={styles.facts}>
          <dt>Id</dt>
          <dd>
            <CopyButton label="Copy the workspace’s id" text={workspace.id} caption={workspace.id} />
          </dd>
          <dt>Your role</dt>
          <dd>{workspace.role}</dd>
          <dt>Created</dt>
          <dd>{formatMoment(workspace.createdAt)}</dd>
        </dl>
      </Section>
      <Section
        title="Members"
        lead="Viewers read and ask. Editors also import. Owners also decide who belongs here."
      >
        <Members workspace={workspace} />
      </Section>
      <Section title="Search index" lead="What search and answers can find.">
        <IndexFacts workspaceId={workspace.id} />
      </Section>
      {isOwner && (
        <Section title="Delete" lead="Everything in the workspace goes with it, for all members.">
          <div>
            <Button icon={Trash2} onClick={() => setDialog('delete')}>
              Delete workspace
            </Button>
          </div>
        </Section>
      )}
      {dialog === 'rename' && <RenameWorkspace workspace={workspace} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteWorkspace workspace={workspace} onClose={() => setDialog(null)} />}
    </Page>
  )
}

function IndexFacts({ workspaceId }: { workspaceId: string }) {
  const index = useIndexState(workspaceId)
  if (index.isPending) return <Loading label="Reading the state of the index" />
  if (index.isError) return <ErrorNotice error={index.error} onRetry={() => void index.refetch()} />
  const { documents, chunks, pending, skipped, failed, embeddingModel, dimensions, updatedAt } = index.data
  return (
    <dl className={styles.facts}>
      <dt>Files</dt>
      <dd>{formatNumber(documents)}</dd>
      <dt>Passages</dt>
      <dd>
        {formatNumber(chunks)}
        {pending > 0 && `, ${formatNumber(pending)} still to be embedded`}
      </dd>
      <dt>Embedded with</dt>
      <dd>
        {embeddingModel} ({formatNumber(dimensions)} dimensions)
      </dd>
      {skipped.length > 0 && (
        <>
          <dt>Left out</dt>
          <dd>{skipped.map(({ reason, files }) => `${formatNumber(files)} ${reason}`).join(', ')}</dd>
        </>
      )}
      {failed > 0 && (
        <>
          <dt>Failed</dt>
          <dd>{formatNumber(failed)}</dd>
        </>
      )}
      <dt>Updated</dt>
      <dd>{updatedAt === null ? 'never' : formatMoment(updatedAt)}</dd>
    </dl>
  )
}

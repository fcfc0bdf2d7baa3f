import { type ApiKey, deleteApiKey } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { formatAgo, formatDay } from '../lib/format.ts'
import { useApiKeys } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { useNow } from '../lib/use-now.ts'
import { Page } from '../shell/page.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { Badge, EmptyState, Loading } from '../ui/feedback.tsx'
import { CreateApiKey } from './create-api-key.tsx'
import styles from './settings.module.css'

export function ApiKeys() {
  const keys = useApiKeys()
  const [creating, setCreating] = useState(false)
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
      New key
    </Button>
  )
  const items = keys.data?.items
  return (
    <Page
      title="API keys"
      lead="For programs that use the HTTP interface in your name. A key can do no more than its scopes."
      actions={items !== undefined && items.length > 0 ? create : undefined}
    >
      {keys.isPending && <Loading label="Reading your keys" />}
      {keys.isError && <ErrorNotice error={keys.error} onRetry={() => void keys.refetch()} />}
      {items?.length === 0 && (
        <EmptyState icon={KeyRound} title="No keys yet" actions={create}>
          <p>
            Send a key in the header <code>x-api-key</code>. The <a href="/docs">interface’s pages</a> show
            what can be called.
          </p>
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <ul className={styles.keys}>
          {items.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
      {creating && <CreateApiKey onClose={() => setCreating(false)} />}
    </Page>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const now = useNow(60_000)
  const [revoking, setRevoking] = useState(false)
  const expired = Date.parse(apiKey.expiresAt) < now
  return (
    <li>
      <div className={styles.key}>
        <strong>{apiKey.name}</strong>
        <code>{apiKey.prefix}…</code>
        {expired ? <Badge tone="bad">expired</Badge> : <Badge>until {formatDay(apiKey.expiresAt)}</Badge>}
        <small>
          {apiKey.scopes.join(', ')} ·{' '}
          {apiKey.lastUsedAt === null ? 'never used' : `used ${formatAgo(apiKey.lastUsedAt, now)}`}
        </small>
      </div>
      <IconButton
        icon={Trash2}
        label={`Revoke ${apiKey.name}`}
        side="left"
        onClick={() => setRevoking(true)}
      />
      {revoking && <RevokeKey apiKey={apiKey} onClose={() => setRevoking(false)} />}
    </li>
  )
}

function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { client, queryClient } = useServices()
  const revoke = useMutation({
    mutationFn: () => client.call(deleteApiKey, { params: { apiKeyId: apiKey.id } }),
    onSuccess: async () => {
      onClose()
      await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    },
  })
  return (
    <Dialog title={`Revoke “${apiKey.name}”?`} onClose={onClose}>
      <DialogBody>
        <p>Programs that use it are refused from now on. This cannot be undone.</p>
        {revoke.isError && <ErrorNotice error={revoke.error} kept="The key still works." />}
      </DialogBody>
      <DialogActions>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke key
        </Button>
      </DialogActions>
    </Dialog>
  )
}

import type { Workspace } from '@atelier/contract'
import { Ellipsis, Pencil, Settings, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { MenuButton } from '../ui/menu.tsx'
import { DeleteWorkspace } from './delete-workspace.tsx'
import { RenameWorkspace } from './rename-workspace.tsx'

/** What can be done to a workspace; owners only see what owners may do. */
export function WorkspaceMenu({ workspace }: { workspace: Workspace }) {
  const [, navigate] = useLocation()
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null)
  const settings = {
    label: 'Settings and members',
    icon: Settings,
    run: () => navigate(`/w/${workspace.id}/settings`),
  }
  const forOwners = [
    { label: 'Rename', icon: Pencil, run: () => setDialog('rename') },
    { label: 'Delete', icon: Trash2, danger: true, run: () => setDialog('delete') },
  ]
  return (
    <>
      <MenuButton
        icon={Ellipsis}
        label={`Actions for ${workspace.name}`}
        side="left"
        items={workspace.role === 'owner' ? [settings, ...forOwners] : [settings]}
      />
      {dialog === 'rename' && <RenameWorkspace workspace={workspace} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteWorkspace workspace={workspace} onClose={() => setDialog(null)} />}
    </>
  )
}

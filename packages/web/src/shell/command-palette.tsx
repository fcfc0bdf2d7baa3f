import { Command } from 'cmdk'
import {
  BookOpen,
  ChartColumn,
  FolderGit2,
  HeartPulse,
  KeyRound,
  LogOut,
  type LucideIcon,
  MonitorCog,
  Moon,
  Settings,
  Sun,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { useSignOut } from '../identity/use-sign-out.ts'
import { useWorkspaces } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/feedback.tsx'
import { matchWords } from '../ui/match-words.ts'
import palette from '../ui/palette.module.css'
import { usePlaceCommands } from './place-commands.ts'

export interface PaletteCommand {
  title: string
  icon: LucideIcon
  shortcut?: string
  run: () => void
}

/** Everything by name: what can be done here, every workspace, the account. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const { theme } = useServices()
  const signOut = useSignOut()
  const workspaces = useWorkspaces().data?.items ?? []
  const here = usePlaceCommands()
  const general: PaletteCommand[] = [
    { title: 'All workspaces', icon: FolderGit2, run: () => navigate('/') },
    { title: 'Theme: dark', icon: Moon, run: () => theme.set('dark') },
    { title: 'Theme: light', icon: Sun, run: () => theme.set('light') },
    { title: 'Theme: as the system', icon: MonitorCog, run: () => theme.set('system') },
    { title: 'Account settings', icon: Settings, run: () => navigate('/settings/profile') },
    { title: 'Usage and cost', icon: ChartColumn, run: () => navigate('/settings/usage') },
    { title: 'Model providers', icon: HeartPulse, run: () => navigate('/settings/providers') },
    { title: 'API keys', icon: KeyRound, run: () => navigate('/settings/keys') },
    { title: 'HTTP interface', icon: BookOpen, run: () => window.open('/docs', '_blank', 'noopener') },
    { title: 'Sign out', icon: LogOut, run: () => signOut.mutate() },
  ]
  const item = ({ title, icon: Icon, shortcut, run }: PaletteCommand) => (
    <Command.Item
      key={title}
      value={title}
      onSelect={() => {
        onClose()
        run()
      }}
    >
      <Icon size={14} aria-hidden />
      <span>{title}</span>
      <small />
      {shortcut !== undefined && <Kbd>{shortcut}</Kbd>}
    </Command.Item>
  )
  return (
    <Dialog title="Commands" size="wide" bare onClose={onClose}>
      <Command label="Commands" filter={matchWords} loop className={palette.palette}>
        <Command.Input placeholder="What do you want to do?" />
        <Command.List>
          <Command.Empty>No command matches.</Command.Empty>
          {here.length > 0 && <Command.Group heading="Here">{here.map(item)}</Command.Group>}
          {workspaces.length > 0 && (
            <Command.Group heading="Workspaces">
              {workspaces.map(({ id, name }) => (
                <Command.Item
                  key={id}
                  value={id}
                  keywords={[name]}
                  onSelect={() => {
                    onClose()
                    navigate(`/w/${id}/files`)
                  }}
                >
                  <FolderGit2 size={14} aria-hidden />
                  <span>{name}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          <Command.Group heading="General">{general.map(item)}</Command.Group>
        </Command.List>
      </Command>
    </Dialog>
  )
}

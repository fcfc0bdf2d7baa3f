import type { Workspace } from '@atelier/contract'
import {
  Box,
  FilePlus2,
  FileSearch,
  Files,
  FolderUp,
  GitBranch,
  MessageSquareText,
  Search,
  Settings2,
  SquarePen,
  SquareTerminal,
} from 'lucide-react'
import { shortcutLabel } from '../lib/use-shortcut.ts'
import type { TerminalDrawerControls } from '../terminals/use-terminal-drawer.ts'
import type { ImportControls } from '../workspaces/use-import.tsx'
import type { PaletteCommand } from './command-palette.tsx'
import type { Ide } from './use-ide.ts'

interface WorkspaceCommandsInput {
  workspace: Workspace
  ide: Ide
  controls: ImportControls
  openQuick: () => void
  terminal: TerminalDrawerControls
}

/** What the palette offers inside a workspace. */
export function useWorkspaceCommands({
  workspace,
  ide,
  controls,
  openQuick,
  terminal,
}: WorkspaceCommandsInput): PaletteCommand[] {
  const imports: PaletteCommand[] = [
    { title: 'Import a folder', icon: FolderUp, run: controls.pickFolder },
    { title: 'Import files or an archive', icon: FilePlus2, run: controls.pickFiles },
    { title: 'Import from Git', icon: GitBranch, run: controls.askGit },
  ]
  return [
    { title: 'Open a file by name', icon: FileSearch, shortcut: shortcutLabel('P'), run: openQuick },
    { title: 'Ask the assistant', icon: MessageSquareText, run: () => ide.showPanel('chat') },
    { title: 'New chat', icon: SquarePen, run: () => ide.showChat(null) },
    { title: 'Search the code', icon: Search, run: () => ide.showPanel('search') },
    { title: 'Show files', icon: Files, run: () => ide.showPanel('files') },
    { title: 'Show the sandbox: state, ports, code-server', icon: Box, run: () => ide.showPanel('sandbox') },
    ...(terminal.offered
      ? [{ title: 'Terminal', icon: SquareTerminal, shortcut: 'Ctrl `', run: terminal.show }]
      : []),
    ...(workspace.role === 'viewer' ? [] : imports),
    { title: 'Workspace settings and members', icon: Settings2, run: () => ide.showPanel('settings') },
  ]
}

import { LogOut, Settings } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useSignOut } from '../identity/use-sign-out.ts'
import { useNarrow } from '../lib/use-media.ts'
import { useShortcut } from '../lib/use-shortcut.ts'
import { SessionChip } from '../sessions/session-chip.tsx'
import { IconButton } from '../ui/button.tsx'
import { Logo } from '../ui/logo.tsx'
import { CommandPalette } from './command-palette.tsx'
import styles from './shell.module.css'
import { ConnectionBanner, StatusLine } from './status-line.tsx'
import { useIdeLocation } from './use-ide.ts'

export interface AppFrameProps {
  /** items of the activity bar that belong to the place */
  activity?: ReactNode
  /** the bar at the bottom of a narrow screen */
  bottomBar?: ReactNode
  /** title at the top of a narrow screen */
  title?: string
  children: ReactNode
}

/** The frame around every signed-in page: the activity bar, the status line, the palette. */
export function AppFrame({ activity, bottomBar, title = 'Atelier', children }: AppFrameProps) {
  const narrow = useNarrow()
  const [palette, setPalette] = useState(false)
  useShortcut('k', () => setPalette(true))
  return (
    <div className={styles.app} data-narrow={narrow}>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      {!narrow && <ActivityBar>{activity}</ActivityBar>}
      <main id="main" tabIndex={-1} className={styles.main}>
        {narrow && <TopBar title={title} />}
        <ConnectionBanner />
        {children}
      </main>
      {narrow ? bottomBar : <StatusLine onPalette={() => setPalette(true)} />}
      {palette && <CommandPalette onClose={() => setPalette(false)} />}
    </div>
  )
}

function ActivityBar({ children }: { children: ReactNode }) {
  const [pathname] = useLocation()
  const signOut = useSignOut()
  return (
    <nav className={styles.activity} aria-label="Main">
      <Link href="/" className={styles.home} aria-label="All workspaces" data-tooltip="All workspaces">
        <Logo size={22} />
      </Link>
      {children}
      <span className={styles.spring} />
      <Link
        href="/settings/profile"
        className={styles.activityItem}
        aria-label="Account settings"
        data-tooltip="Account settings"
        aria-current={pathname.startsWith('/settings') ? 'page' : undefined}
      >
        <Settings size={20} strokeWidth={1.6} aria-hidden />
      </Link>
      <button
        type="button"
        className={styles.activityItem}
        aria-label="Sign out"
        data-tooltip="Sign out"
        disabled={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        <LogOut size={19} strokeWidth={1.6} aria-hidden />
      </button>
    </nav>
  )
}

function TopBar({ title }: { title: string }) {
  const location = useIdeLocation()
  const [, navigate] = useLocation()
  const signOut = useSignOut()
  return (
    <header className={styles.topBar}>
      <Link href="/" aria-label="All workspaces">
        <Logo size={22} />
      </Link>
      <strong>{title}</strong>
      {location !== null && <SessionChip workspaceId={location.workspaceId} />}
      <IconButton icon={Settings} label="Account settings" onClick={() => navigate('/settings/profile')} />
      <IconButton icon={LogOut} label="Sign out" side="left" onClick={() => signOut.mutate()} />
    </header>
  )
}

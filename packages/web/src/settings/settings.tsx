import {
  BookOpen,
  ChartColumn,
  Gauge,
  HeartPulse,
  KeyRound,
  type LucideIcon,
  Palette,
  UserRound,
} from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { ProvidersPage } from '../providers/providers-page.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { UsagePage } from '../usage/usage-page.tsx'
import { ApiKeys } from './api-keys.tsx'
import { Appearance } from './appearance.tsx'
import { Limits } from './limits.tsx'
import { Profile } from './profile.tsx'
import styles from './settings.module.css'

const sections: readonly { name: string; title: string; icon: LucideIcon; page: () => ReactNode }[] = [
  { name: 'profile', title: 'Profile', icon: UserRound, page: () => <Profile /> },
  { name: 'appearance', title: 'Appearance', icon: Palette, page: () => <Appearance /> },
  { name: 'keys', title: 'API keys', icon: KeyRound, page: () => <ApiKeys /> },
  { name: 'usage', title: 'Usage', icon: ChartColumn, page: () => <UsagePage /> },
  { name: 'providers', title: 'Model providers', icon: HeartPulse, page: () => <ProvidersPage /> },
  { name: 'limits', title: 'Limits', icon: Gauge, page: () => <Limits /> },
]

/** The person's settings, one address a section. */
export function Settings({ section }: { section: string }) {
  const current = sections.find(({ name }) => name === section)
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a narrow screen the sections are a row that scrolls.
    nav.current
      ?.querySelector(`a[href$="/${section}"]`)
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section])
  return (
    <div className={styles.settings}>
      <nav ref={nav} aria-label="Settings">
        {sections.map(({ name, title, icon: Icon }) => (
          <Link key={name} href={`/settings/${name}`} aria-current={name === section ? 'page' : undefined}>
            <Icon size={16} strokeWidth={1.75} aria-hidden />
            {title}
          </Link>
        ))}
        <a href="/docs" target="_blank" rel="noopener">
          <BookOpen size={16} strokeWidth={1.75} aria-hidden />
          HTTP interface
        </a>
      </nav>
      {current === undefined ? <NotFound /> : current.page()}
    </div>
  )
}

import { MonitorCog, Moon, Sun } from 'lucide-react'
import { useServices } from '../lib/services.tsx'
import { useStore } from '../lib/store.ts'
import { type Theme, themes } from '../lib/theme.ts'
import { Page, Section } from '../shell/page.tsx'
import styles from './settings.module.css'

const names: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' }
const icons = { system: MonitorCog, light: Sun, dark: Moon }

export function Appearance() {
  const { theme } = useServices()
  const chosen = useStore(theme)
  return (
    <Page title="Appearance">
      <Section title="Theme">
        <fieldset className={styles.themes}>
          <legend className="visually-hidden">Theme</legend>
          {themes.map((each) => {
            const Icon = icons[each]
            return (
              <label key={each} className={styles.theme}>
                <input type="radio" name="theme" checked={each === chosen} onChange={() => theme.set(each)} />
                <Icon size={18} strokeWidth={1.6} aria-hidden />
                {names[each]}
              </label>
            )
          })}
        </fieldset>
      </Section>
    </Page>
  )
}

import { useMedia } from '../lib/use-media.ts'
import type { TouchKey } from './live-terminal.ts'
import styles from './terminals.module.css'

const keys: readonly (readonly [key: TouchKey, label: string, name?: string])[] = [
  ['Escape', 'Esc'],
  ['Tab', 'Tab'],
  ['Ctrl-C', 'Ctrl C'],
  ['ArrowUp', '↑', 'Arrow up'],
  ['ArrowDown', '↓', 'Arrow down'],
  ['ArrowLeft', '←', 'Arrow left'],
  ['ArrowRight', '→', 'Arrow right'],
]

/** Keys that the keyboard of a touch screen has not. */
export function TouchKeys({ onPress }: { onPress: (key: TouchKey) => void }) {
  const coarse = useMedia('(pointer: coarse)')
  if (!coarse) return null
  return (
    <div className={styles.keys} role="toolbar" aria-label="Keys">
      {keys.map(([key, label, name]) => (
        <button key={key} type="button" aria-label={name} onClick={() => onPress(key)}>
          {label}
        </button>
      ))}
    </div>
  )
}

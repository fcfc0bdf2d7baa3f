import { useEffect, useEffectEvent } from 'react'

export const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The name of a combination as the reader's keyboard labels it: `⌘K` or `Ctrl K`. */
export function shortcutLabel(key: string): string {
  return isApple ? `⌘${key}` : `Ctrl ${key}`
}

/** Calls `action` on Ctrl (or Command) and the key, wherever the focus is. */
export function useShortcut(key: string, action: () => void): void {
  const run = useEffectEvent(action)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const modifier = isApple ? event.metaKey : event.ctrlKey
      if (!modifier || event.altKey || event.shiftKey || event.key.toLowerCase() !== key.toLowerCase()) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [key])
}

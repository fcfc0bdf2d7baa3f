import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { classes } from './classes.ts'
import styles from './popover.module.css'

export interface PopoverProps {
  /** what it opens beside */
  anchor: RefObject<HTMLElement | null>
  onClose: () => void
  children: ReactNode
  label: string
  role?: 'dialog' | 'menu' | 'tooltip'
  align?: 'start' | 'end'
  className?: string | undefined
}

/** Distance from the anchor and from the edges of the window, in pixels. */
const gap = 4
const margin = 8

/** A layer in the top layer, below its anchor or above it where there is more room. Mounted means open. */
export function Popover({
  anchor,
  onClose,
  children,
  label,
  role = 'dialog',
  align = 'start',
  className,
}: PopoverProps) {
  const layer = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    const element = layer.current
    const target = anchor.current
    if (element === null || target === null) return
    element.showPopover()
    const observer = new ResizeObserver(() => place(element, target, align))
    observer.observe(element)
    return () => observer.disconnect()
  }, [anchor, align])

  useEffect(() => {
    const onPointerDown = (event: PointerEvent) => {
      const target = event.target as Node
      if (!layer.current?.contains(target) && !anchor.current?.contains(target)) onClose()
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      onClose()
      if (role !== 'tooltip') anchor.current?.focus()
    }
    addEventListener('pointerdown', onPointerDown)
    addEventListener('keydown', onKeyDown, true)
    addEventListener('resize', onClose)
    return () => {
      removeEventListener('pointerdown', onPointerDown)
      removeEventListener('keydown', onKeyDown, true)
      removeEventListener('resize', onClose)
    }
  }, [anchor, onClose, role])

  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: every role it can have takes a name
    <div
      ref={layer}
      popover="manual"
      role={role}
      aria-label={label}
      className={classes(styles.popover, className)}
    >
      {children}
    </div>
  )
}

function place(layer: HTMLElement, target: HTMLElement, align: 'start' | 'end'): void {
  const box = target.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = layer
  const below = innerHeight - box.bottom - gap - margin
  const above = box.top - gap - margin
  const top = height <= below || below >= above ? box.bottom + gap : box.top - gap - Math.min(height, above)
  const wanted = align === 'start' ? box.left : box.right - width
  layer.style.maxHeight = `${Math.max(below, above)}px`
  layer.style.top = `${top}px`
  layer.style.left = `${Math.max(margin, Math.min(wanted, innerWidth - width - margin))}px`
}

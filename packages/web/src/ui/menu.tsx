import type { LucideIcon } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { IconButton, type IconButtonProps } from './button.tsx'
import { classes } from './classes.ts'
import styles from './popover.module.css'
import { Popover } from './popover.tsx'

export interface MenuItem {
  label: string
  icon?: LucideIcon
  danger?: boolean
  disabled?: boolean
  run: () => void
}

/** A button that opens a menu; arrows move in it, Escape leaves it. */
export function MenuButton({ items, ...button }: IconButtonProps & { items: MenuItem[] }) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  return (
    <>
      <IconButton
        {...button}
        ref={anchor}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={(event) => {
          event.stopPropagation()
          event.preventDefault()
          setOpen(!open)
        }}
      />
      {open && <MenuLayer anchor={anchor} items={items} label={button.label} onClose={close} />}
    </>
  )
}

export interface MenuProps {
  /** where it opens, in pixels of the window */
  at: { left: number; top: number }
  items: MenuItem[]
  label: string
  onClose: () => void
  /** where the focus goes back to */
  onLeft: () => void
}

/** A menu where the pointer is, or below what the keys are at. */
export function Menu({ at, items, label, onClose, onLeft }: MenuProps) {
  const anchor = useRef<HTMLSpanElement>(null)
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on */}
      <span
        ref={anchor}
        tabIndex={-1}
        onFocus={onLeft}
        style={{ position: 'fixed', left: at.left, top: at.top }}
      />
      <MenuLayer
        key={`${at.left} ${at.top}`}
        anchor={anchor}
        items={items}
        label={label}
        onClose={onClose}
        align="start"
      />
    </>
  )
}

interface MenuLayerProps {
  anchor: RefObject<HTMLElement | null>
  items: MenuItem[]
  label: string
  onClose: () => void
  align?: 'start' | 'end'
}

function MenuLayer({ anchor, items, label, onClose, align = 'end' }: MenuLayerProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    buttonsOf(list.current)[0]?.focus()
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = buttonsOf(list.current)
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    buttons.at(next % buttons.length)?.focus()
  }

  return (
    <Popover
      anchor={anchor}
      onClose={onClose}
      label={label}
      role="menu"
      align={align}
      className={styles.menu}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the menu around it */}
      <div ref={list} onKeyDown={onKeyDown}>
        {items.map(({ label: itemLabel, icon: Icon, danger, disabled, run }) => (
          <button
            key={itemLabel}
            type="button"
            role="menuitem"
            disabled={disabled}
            className={classes(styles.item, danger && styles.danger)}
            onClick={(event) => {
              event.stopPropagation()
              anchor.current?.focus()
              onClose()
              run()
            }}
          >
            {Icon && <Icon size={14} aria-hidden />}
            {itemLabel}
          </button>
        ))}
      </div>
    </Popover>
  )
}

function buttonsOf(list: HTMLElement | null): HTMLButtonElement[] {
  return Array.from(list?.querySelectorAll<HTMLButtonElement>('button:not(:disabled)') ?? [])
}

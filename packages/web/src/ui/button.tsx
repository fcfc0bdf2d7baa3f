import { LoaderCircle, type LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, Ref } from 'react'
import styles from './button.module.css'
import { classes } from './classes.ts'

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger'
  icon?: LucideIcon
  /** shows that the action is under way; the button then takes no clicks */
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({
  variant = 'secondary',
  icon: Icon,
  busy = false,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
      className={classes(styles.button, styles[variant], className)}
    >
      {busy ? (
        <LoaderCircle className={styles.spin} size={14} aria-hidden />
      ) : (
        Icon && <Icon size={14} aria-hidden />
      )}
      {children}
    </button>
  )
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: LucideIcon
  /** accessible name and tooltip */
  label: string
  /** where the tooltip opens */
  side?: 'top' | 'bottom' | 'right' | 'left'
  size?: number
  ref?: Ref<HTMLButtonElement>
}

export function IconButton({
  icon: Icon,
  label,
  side = 'bottom',
  size = 16,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      data-tooltip={label}
      data-side={side}
      className={classes(styles.icon, className)}
    >
      <Icon size={size} strokeWidth={1.75} aria-hidden />
    </button>
  )
}

/** The mark of `public/icon.svg`, drawn here so that it follows the tokens. */
export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--accent-solid)" />
      <g fill="none" stroke="#fff" strokeWidth="3" strokeLinecap="round" strokeLinejoin="round">
        <path d="M9 23 16 8l7 15" />
        <path d="M12.5 18.5h7" />
      </g>
    </svg>
  )
}

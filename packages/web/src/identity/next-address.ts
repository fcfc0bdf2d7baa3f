/**
 * Where to go after sign-in: the `next` of the address, if it is a place of this page. Anything that a browser could
 * read as another origin (`//host`, `/\host`, a scheme) leads home instead.
 */
export function nextOf(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/'
  return /^\/(?![/\\])/.test(next) && !next.includes('\\') ? next : '/'
}

/** The same `next` on another address. */
export function withNext(path: string, search: string): string {
  const next = nextOf(search)
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`
}

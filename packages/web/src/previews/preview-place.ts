/** A page that a program of the workspace serves. */
export interface PreviewPlace {
  port: number
  /** begins with a slash; with its query */
  path: string
}

/** `5173/docs?page=2`, as the address of the page names it. */
export function formatPreviewPlace({ port, path }: PreviewPlace): string {
  return `${port}${path}`
}

export function parsePreviewPlace(text: string | null): PreviewPlace | null {
  const [, port = '', path = '/'] = /^(\d{1,5})(\/.*)?$/s.exec(text ?? '') ?? []
  const number = Number(port)
  return port === '' || number < 1 || number > 65_535 ? null : { port: number, path }
}

/** The address of a port, led to another path. */
export function previewHref(url: string, path: string): string {
  const address = new URL(url)
  address.searchParams.set('next', path)
  return address.href
}

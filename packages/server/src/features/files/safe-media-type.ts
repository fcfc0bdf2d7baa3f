/** Formats that a browser shows and never runs. What is not here is bytes: HTML, SVG, PDF and scripts above all. */
const inertTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
}

/** The media type to send a user's file with: its own where that is harmless, else bytes. */
export function safeMediaType(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
  return Object.hasOwn(inertTypes, extension) ? (inertTypes[extension] as string) : 'application/octet-stream'
}

/** `Content-Disposition` of a download, RFC 6266: a name for old clients, and the true one. */
export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** Users' content is never part of our origin, whatever a browser makes of it. */
export const sandboxPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"

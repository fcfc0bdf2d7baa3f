type Header = readonly [name: string, value: string]

/**
 * Sent with every answer. Styles may be inline because CodeMirror and the charts set them from script. `frameSource` is
 * where previews are, which the page shows in frames.
 */
export function securityHeaders(frameSource = ''): readonly Header[] {
  const policy = [
    "default-src 'self'",
    `frame-src 'self' ${frameSource}`.trim(),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "worker-src 'self' blob:",
    "connect-src 'self' ws: wss:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return [
    ['content-security-policy', policy.join('; ')],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'same-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
  ]
}

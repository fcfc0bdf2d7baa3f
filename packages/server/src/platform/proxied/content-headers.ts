/** Headers as Node gives and takes them raw: name, value, name, value… so that repeated ones stay repeated. */
export type RawHeaders = readonly string[]

/** RFC 9110, section 7.6.1: about one connection, never passed on. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Said anew for the program in the workspace, or answered by us already. */
const replaced = new Set(['forwarded', 'x-real-ip', 'expect'])

/** Cookies of ours, whatever their prefix: no program in a workspace sees one or sets one. */
const ownCookie = /^(__host-|__secure-)?atelier\./i

export interface InboundOptions {
  host: string
  scheme: 'http' | 'https'
  /** `iss` of our tokens: those are ours to strip, another application's are not */
  issuer: string
  /** the program has no use for any Authorization */
  stripAuthorization: boolean
}

/** What a program in a workspace gets of a request: everything of its own, nothing that would let it act as the caller. */
export function inboundHeaders(raw: RawHeaders, options: InboundOptions): string[] {
  const named = connectionNamed(raw)
  const kept = pairs(raw).flatMap(([name, value]): string[] => {
    const key = name.toLowerCase()
    if (hopByHop.has(key) || named.has(key) || replaced.has(key) || key.startsWith('x-forwarded-')) return []
    if (key === 'authorization' && (options.stripAuthorization || isOwnToken(value, options.issuer)))
      return []
    if (key === 'x-api-key' && value.trim().startsWith('atl_')) return []
    if (key !== 'cookie') return [name, value]
    const cookies = foreignCookies(value)
    return cookies === '' ? [] : [name, cookies]
  })
  return [...kept, 'x-forwarded-host', options.host, 'x-forwarded-proto', options.scheme]
}

/**
 * What a browser gets of an answer. Cookies become the content host's own and cannot take a name of ours; another
 * origin is not advertised; only our page may show it in a frame.
 */
export function outboundHeaders(raw: RawHeaders, options: { frameAncestor: string }): string[] {
  const named = connectionNamed(raw)
  const kept = pairs(raw).flatMap(([name, value]): string[] => {
    const key = name.toLowerCase()
    if (hopByHop.has(key) || named.has(key) || key === 'alt-svc') return []
    if (key !== 'set-cookie') return [name, value]
    const cookie = hostOnlyCookie(value)
    return cookie === null ? [] : [name, cookie]
  })
  return [...kept, 'content-security-policy', `frame-ancestors 'self' ${options.frameAncestor}`]
}

/** `null`: it would set a cookie of ours. */
export function hostOnlyCookie(setCookie: string): string | null {
  const [pair = '', ...attributes] = setCookie.split(';')
  const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim()
  // Some browsers take a cookie without a name as `value`, which would then be sent as if it were a pair.
  if (name === '' || ownCookie.test(name) || ownCookie.test(pair.trim())) return null
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';')
}

function foreignCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !ownCookie.test(pair))
    .join('; ')
}

function isOwnToken(header: string, issuer: string): boolean {
  const credential = /^\s*bearer\s+(\S+)\s*$/i.exec(header)?.[1]
  if (credential === undefined) return false
  if (credential.startsWith('atl_')) return true
  try {
    const payload: unknown = JSON.parse(Buffer.from(credential.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload === 'object' && payload !== null && Reflect.get(payload, 'iss') === issuer
  } catch {
    // Not a JWT, so not one of ours.
    return false
  }
}

function connectionNamed(raw: RawHeaders): Set<string> {
  return new Set(
    pairs(raw)
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((name) => name.trim().toLowerCase()),
  )
}

export function pairs(raw: RawHeaders): [name: string, value: string][] {
  const found: [string, string][] = []
  for (let index = 0; index + 1 < raw.length; index += 2)
    found.push([raw[index] as string, raw[index + 1] as string])
  return found
}

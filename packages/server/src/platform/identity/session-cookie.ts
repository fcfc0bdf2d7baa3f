import { createHmac, timingSafeEqual } from 'node:crypto'

/** The cookie that carries a session: `<token>.<base 64 of HMAC-SHA-256(secret, token)>`, percent-encoded. */
export interface SessionCookie {
  readonly name: string
  /** whether browsers send it over TLS only */
  readonly secure: boolean
  /** the `Set-Cookie` that removes it */
  readonly cleared: string
  /**
   * The values under our name in a `Cookie` header. Another page on the same host can set a second one, and which comes
   * first is its choice: the caller refuses more than one.
   */
  valuesIn(header: string): string[]
  /** The session token of a value whose signature is ours, else `null`. */
  tokenOf(value: string): string | null
}

/** Under TLS the name is prefixed `__Host-`: browsers then take it from this host only, with `Secure` and `Path=/`. */
export function createSessionCookie(options: { secret: string; secure: boolean }): SessionCookie {
  const { secret, secure } = options
  const name = secure ? '__Host-atelier.session' : 'atelier.session'

  function signatureOf(token: string): Buffer {
    return Buffer.from(createHmac('sha256', secret).update(token).digest('base64'))
  }

  return {
    name,
    secure,
    cleared: `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
    valuesIn: (header) =>
      header
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
        .map((pair) => pair.slice(name.length + 1)),
    tokenOf(value) {
      const [token, given] = splitValue(value)
      if (token === undefined || given === undefined) return null
      const expected = signatureOf(token)
      return given.length === expected.length && timingSafeEqual(given, expected) ? token : null
    },
  }
}

function splitValue(value: string): [token?: string, signature?: Buffer] {
  const text = decode(value)
  const dot = text.lastIndexOf('.')
  return dot < 1 ? [] : [text.slice(0, dot), Buffer.from(text.slice(dot + 1))]
}

/** A value that is not percent-encoded text is no cookie of ours, which its signature will show. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}

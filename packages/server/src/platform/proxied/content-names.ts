/** What a content host stands for: a port of a workspace, or its editor session. */
export type ContentName =
  | { kind: 'port'; port: number; workspaceId: string }
  | { kind: 'editor'; sessionId: string }

/** An origin is a host name of its own, so that browsers keep what workspaces serve apart from us and from each other. */
export interface ContentNames {
  /** every content host, as a source of a Content-Security-Policy */
  readonly source: string
  /** first label of the host name: `5173--<ULID>` or `editor--<ULID>`, in lower case */
  labelOf(name: ContentName): string
  nameOf(label: string): ContentName | null
  /** The label of a `Host` header below the content domain, `null` for any other host. It may name nothing. */
  labelOfHost(host: string | undefined): string | null
  /** `https://<label>.<domain>[:port]` for who reaches the server as `host`; `null` where there is no content domain. */
  originOf(label: string, host: string | undefined): string | null
}

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Browsers resolve every name below it to loopback and take it for trustworthy: no DNS is needed on one's own machine. */
const localDomain = 'localhost'

/**
 * `domain`: host and port below which content is served, which must lead here; where absent, names below `localhost`
 * serve whoever reaches the server on loopback, and nobody else.
 */
export function createContentNames(options: {
  domain: string | undefined
  baseUrl: string | undefined
}): ContentNames {
  const { domain } = options
  const base = options.baseUrl === undefined ? undefined : new URL(options.baseUrl)
  const suffix = `.${hostName(domain ?? localDomain)}`

  const scheme = base?.protocol ?? 'http:'

  return {
    source: `${scheme}//*.${domain ?? `${localDomain}:*`}`,
    labelOf: (name) =>
      name.kind === 'port'
        ? `${name.port}--${ulidOf(name.workspaceId)}`
        : `editor--${ulidOf(name.sessionId)}`,
    nameOf: parseLabel,
    labelOfHost(host) {
      const name = host === undefined ? '' : hostName(host)
      return name.endsWith(suffix) ? name.slice(0, -suffix.length) : null
    },
    originOf(label, host) {
      if (domain !== undefined) return `${scheme}//${label}.${domain}`
      const own = base ? base.host : (host ?? '')
      if (!loopbackNames.has(hostName(own))) return null
      const port = /:\d+$/.exec(own)?.[0] ?? ''
      return `${scheme}//${label}.${localDomain}${port}`
    },
  }
}

const labelPattern = /^(editor|[1-9][0-9]{0,4})--([0-9a-hjkmnp-tv-z]{26})$/

/** Highest TCP port. */
const maxPort = 65_535

function parseLabel(label: string): ContentName | null {
  const [, kind, ulid] = labelPattern.exec(label) ?? []
  if (kind === undefined || ulid === undefined) return null
  const id = ulid.toUpperCase()
  if (kind === 'editor') return { kind, sessionId: `cs_${id}` }
  const port = Number(kind)
  return port > maxPort ? null : { kind: 'port', port, workspaceId: `ws_${id}` }
}

function ulidOf(id: string): string {
  return id.slice(id.indexOf('_') + 1).toLowerCase()
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../base/app-error.ts'
import type { ContentHolder } from './content-pass.ts'
import type { ContentServerOptions } from './content-server.ts'

/** Path of the platform's own end of the exchange. */
export const enterPath = '/api/content/enter'

/** The only paths of a content host that are ours. */
const openPath = '/.atelier/open'
const redeemPath = '/.atelier/enter'

/** Names under which a server on loopback may have been opened; its cookie holds at that one only. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'] as const

const nonceSeconds = 120

/**
 * How a browser that is signed in at the platform gets a pass for a content host, which has cookies of its own: the
 * content host keeps a nonce and sends the browser to the platform, which sends it back with a single-use ticket bound
 * to that nonce.
 */
export interface ContentEntry {
  /** The answer to one of our own paths; false for all others. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>
  holderOf(request: IncomingMessage, label: string): ContentHolder | null
  sendToSignIn(request: IncomingMessage, response: ServerResponse): void
  /** where the platform itself is, for this browser */
  appOrigin(request: IncomingMessage): string
}

/** The address to give to a person who is at the platform as `host`: it leads to `path` by way of a sign-in. */
export function openingAddress(origin: string, host: string | undefined, path: string): string {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '')
  const from = loopbackNames.find((one) => one === name)
  const query = new URLSearchParams({ ...(from === undefined ? {} : { from }), next: path })
  return `${origin}${openPath}?${query}`
}

/** Where a ticket is redeemed. */
export function redeemingAddress(origin: string, ticket: string, next: string): string {
  return `${origin}${redeemPath}?${new URLSearchParams({ ticket, next })}`
}

export function createContentEntry(
  options: Pick<ContentServerOptions, 'names' | 'passes' | 'baseUrl'>,
): ContentEntry {
  const { names, passes, baseUrl } = options
  const secure = baseUrl?.startsWith('https:') ?? false
  const prefix = secure ? '__Host-' : ''
  const cookies = {
    pass: `${prefix}atelier.content`,
    nonce: `${prefix}atelier.nonce`,
    from: `${prefix}atelier.from`,
  }
  /**
   * In a frame of our page a content host is another site, whose cookies browsers keep only if they ask for it; partitioned,
   * they are there in frames of our page and of no other.
   */
  function attributesFor({ headers }: IncomingMessage): string {
    const framed = headers['sec-fetch-dest'] === 'iframe'
    const site = framed ? 'SameSite=None; Secure; Partitioned' : `SameSite=Lax${secure ? '; Secure' : ''}`
    return `; Path=/; HttpOnly; ${site}`
  }

  function appOrigin(request: IncomingMessage): string {
    if (baseUrl !== undefined) return new URL(baseUrl).origin
    const [kept] = valuesOf(request, cookies.from)
    const name = loopbackNames.find((one) => one === kept) ?? loopbackNames[0]
    return `http://${name}${/:\d+$/.exec(request.headers.host ?? '')?.[0] ?? ''}`
  }

  function leave(
    request: IncomingMessage,
    response: ServerResponse,
    { label, app, next }: { label: string; app: string; next: string },
  ): void {
    const nonce = passes.newNonce()
    const attributes = attributesFor(request)
    const query = new URLSearchParams({ name: label, binding: passes.bindingOf(nonce), next })
    const name = new URL(app).hostname
    redirect(response, `${app}${enterPath}?${query}`, [
      `${cookies.nonce}=${nonce}; Max-Age=${nonceSeconds}${attributes}`,
      `${cookies.from}=${name}; Max-Age=31536000${attributes}`,
    ])
  }

  function redeem(request: IncomingMessage, response: ServerResponse, label: string, url: URL): void {
    const ticket = url.searchParams.get('ticket') ?? ''
    const [nonce = ''] = valuesOf(request, cookies.nonce)
    const holder = passes.redeemTicket(ticket, { label, nonce })
    if (!holder)
      throw new AppError('UNAUTHORIZED', 'This way in was used or has ended; open the address again')
    const attributes = attributesFor(request)
    redirect(response, localPath(url.searchParams.get('next'), url), [
      `${cookies.pass}=${passes.issuePass(holder)}${attributes}`,
      `${cookies.nonce}=; Max-Age=0${attributes}`,
    ])
  }

  return {
    appOrigin,
    holderOf(request, label) {
      for (const value of valuesOf(request, cookies.pass)) {
        const holder = passes.readPass(value, label)
        if (holder) return holder
      }
      return null
    },
    sendToSignIn(request, response) {
      const label = names.labelOfHost(request.headers.host) ?? ''
      leave(request, response, { label, app: appOrigin(request), next: request.url ?? '/' })
    },
    async handle(request, response) {
      const url = new URL(`http://content${request.url?.startsWith('/') ? request.url : '/'}`)
      const label = names.labelOfHost(request.headers.host)
      if (!url.pathname.startsWith('/.atelier/') || label === null) return false
      if (request.method !== 'GET')
        throw new AppError('METHOD_NOT_ALLOWED', `${request.method} is not possible here`)
      if (url.pathname === redeemPath) redeem(request, response, label, url)
      else if (url.pathname === openPath) {
        const from = loopbackNames.find((one) => one === url.searchParams.get('from'))
        const port = /:\d+$/.exec(request.headers.host ?? '')?.[0] ?? ''
        const app = baseUrl === undefined && from !== undefined ? `http://${from}${port}` : appOrigin(request)
        leave(request, response, { label, app, next: localPath(url.searchParams.get('next'), url) })
      } else throw new AppError('NOT_FOUND', 'There is nothing at this path')
      return true
    },
  }
}

/** A path of the same origin, whatever was asked for. */
function localPath(wanted: string | null, base: URL): string {
  if (wanted === null || !URL.canParse(wanted, base.href)) return '/'
  const url = new URL(wanted, base)
  // A path that begins with two slashes would be another host to the browser.
  return url.origin === base.origin ? `/${`${url.pathname}${url.search}`.replace(/^[/\\]+/, '')}` : '/'
}

function valuesOf(request: IncomingMessage, name: string): string[] {
  return (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

function redirect(response: ServerResponse, location: string, setCookie: string[]): void {
  response.writeHead(302, {
    location,
    'set-cookie': setCookie,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': '0',
  })
  response.end()
}

import type { BuiltRequest } from './build-request.ts'

export interface UploadProgress {
  sentBytes: number
  /** null where the browser does not know it */
  totalBytes: number | null
}

export interface PlainAnswer {
  status: number
  headers: Headers
  text: string
}

/** The part of `XMLHttpRequest` used here: `fetch` does not tell how much of a body it has sent. */
interface BrowserRequest {
  upload: {
    onprogress: ((event: { loaded: number; total: number; lengthComputable: boolean }) => void) | null
  }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  status: number
  responseText: string
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

type BrowserRequestClass = new () => BrowserRequest

/** The browser's `XMLHttpRequest`, or undefined where there is none (Node, workers of some kinds). */
export function browserRequestClass(): BrowserRequestClass | undefined {
  return (globalThis as { XMLHttpRequest?: BrowserRequestClass }).XMLHttpRequest
}

/** Sends a request and reports how much of its body has left. Rejects with TypeError when no answer comes, as `fetch` does. */
export function sendWithProgress(
  Request: BrowserRequestClass,
  request: BuiltRequest,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal | undefined,
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const browserRequest = new Request()
    const abort = () => browserRequest.abort()
    const settle = (action: () => void) => () => {
      signal?.removeEventListener('abort', abort)
      action()
    }
    browserRequest.open(request.method, request.url)
    for (const [name, value] of Object.entries(request.headers)) browserRequest.setRequestHeader(name, value)
    browserRequest.upload.onprogress = ({ loaded, total, lengthComputable }) =>
      onProgress({ sentBytes: loaded, totalBytes: lengthComputable ? total : null })
    browserRequest.onload = settle(() => resolve(answerOf(browserRequest)))
    browserRequest.onerror = settle(() => reject(new TypeError('the upload got no answer')))
    browserRequest.onabort = settle(() => reject(signal?.reason ?? new DOMException('aborted', 'AbortError')))
    signal?.addEventListener('abort', abort)
    browserRequest.send(request.body)
  })
}

function answerOf(request: BrowserRequest): PlainAnswer {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return { status: request.status, headers, text: request.responseText }
}

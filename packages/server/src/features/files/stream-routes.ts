import { Readable } from 'node:stream'
import { exportWorkspace, readRawFile } from '@atelier/contract'
import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mountRaw } from '../../platform/http/mount.ts'
import type { WorkspaceGuard } from '../workspaces/index.ts'
import { parseRange, type RequestedRange } from './byte-range.ts'
import { knownRevisions } from './revision-headers.ts'
import { attachment, safeMediaType, sandboxPolicy } from './safe-media-type.ts'
import type { FileFactsToSend, FileStreams } from './stream-files.ts'

export function mountStreamRoutes(dependencies: {
  http: HttpServer
  guard: WorkspaceGuard
  streams: FileStreams
}): void {
  const { http, guard, streams } = dependencies
  mountRaw(http, readRawFile, async ({ principal, query, request, signal }, reply) => {
    const { workspaceId, path } = query
    const scope = await guard(principal, workspaceId, 'viewer')
    const unchanged = (file: FileFactsToSend) =>
      knownRevisions(request.headers['if-none-match']).includes(file.revision)
    if (request.method === 'HEAD') {
      const file = await streams.stat(scope, path)
      sendHead(reply, path, file)
      if (unchanged(file)) return reply.status(304).removeHeader('content-type').send()
      // Without a body Fastify would announce a length of 0.
      return reply.header('content-length', file.size).send(Readable.from([]))
    }
    let asked: RequestedRange = { kind: 'whole' }
    const file = await streams.read(scope, path, {
      signal,
      rangeOf(found) {
        if (unchanged(found)) return null
        asked = rangeOf(request.headers, found)
        if (asked.kind === 'unsatisfiable') return null
        return asked.kind === 'part' ? asked.range : { start: 0, end: found.size }
      },
    })
    sendHead(reply, path, file)
    return sendBody(reply, file, asked as RequestedRange)
  })
  mountRaw(http, exportWorkspace, async ({ principal, params, query, signal }, reply) => {
    const { workspaceId } = params
    const scope = await guard(principal, workspaceId, 'viewer')
    const bytes = await streams.export(scope, { ...query, signal })
    const { format } = query
    return reply
      .header('content-type', format === 'zip' ? 'application/zip' : 'application/gzip')
      .header('content-disposition', attachment(`${workspaceId}.${format}`))
      .header('content-security-policy', sandboxPolicy)
      .header('cache-control', 'private, no-store')
      .send(streamOf(bytes))
  })
}

/** A range counts only of the content that the caller has the rest of, RFC 9110 section 13.1.5. */
function rangeOf(
  headers: { range?: string | undefined; 'if-range'?: string | string[] | undefined },
  { size, revision }: FileFactsToSend,
): RequestedRange {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== `"${revision}"`) return { kind: 'whole' }
  return parseRange(headers.range, size)
}

function sendHead(reply: FastifyReply, path: string, { revision, modifiedAt }: FileFactsToSend): void {
  reply
    .header('content-type', safeMediaType(path))
    .header('content-disposition', attachment(path))
    .header('content-security-policy', sandboxPolicy)
    .header('cache-control', 'private, no-cache')
    .header('accept-ranges', 'bytes')
    .header('etag', `"${revision}"`)
    .header('last-modified', new Date(modifiedAt).toUTCString())
}

function sendBody(
  reply: FastifyReply,
  { size, bytes }: FileFactsToSend & { bytes: AsyncIterable<Uint8Array> | null },
  asked: RequestedRange,
): FastifyReply {
  if (asked.kind === 'unsatisfiable') {
    return reply.status(416).header('content-range', `bytes */${size}`).removeHeader('content-type').send()
  }
  if (bytes === null) return reply.status(304).removeHeader('content-type').send()
  if (asked.kind === 'whole') return reply.header('content-length', size).send(streamOf(bytes))
  const { start, end } = asked.range
  return reply
    .status(206)
    .header('content-range', `bytes ${start}-${end - 1}/${size}`)
    .header('content-length', end - start)
    .send(streamOf(bytes))
}

/** What fails on the way cuts the connection: the announced length then tells the caller that bytes are missing. */
function streamOf(bytes: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(bytes, { objectMode: false })
}

import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { EndpointShape, Fields } from '@atelier/contract'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, invalidField } from '../../base/app-error.ts'
import { validate } from './validate.ts'

/** Most file parts of one request: a project dropped on the page. */
export const maxFileParts = 20_000

/** Most bytes of a field beside the files. */
const maxFieldBytes = 16 * 1024

/** A file part, held on disk until its request has been answered. */
export interface StagedFile {
  /** as the client names it: a relative path, not yet checked */
  name: string
  path: string
  bytes: number
}

export interface StagedForm<E extends EndpointShape> extends AsyncDisposable {
  fields: Fields<E>
  files: StagedFile[]
  directory: string
  /** Keeps the staged files past the request; the new owner removes `directory`. */
  keep(): void
}

export interface MultipartStaging {
  /** Reads a whole form to disk. Throws before anything is kept; what was written is removed. */
  stage<E extends EndpointShape>(endpoint: E, request: FastifyRequest): Promise<StagedForm<E>>
}

export function createMultipartStaging(app: FastifyInstance, stagingDirectory: string): MultipartStaging {
  app.register(multipart, {
    preservePath: true,
    limits: { fieldSize: maxFieldBytes, fields: 20, files: maxFileParts, parts: maxFileParts + 20 },
  })
  return {
    async stage(endpoint, request) {
      if (!request.isMultipart()) {
        throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be multipart/form-data')
      }
      refuseAnnouncedSize(endpoint, request)
      await mkdir(stagingDirectory, { recursive: true })
      const directory = await mkdtemp(join(stagingDirectory, 'form-'))
      try {
        const { fields, files } = await readParts(endpoint, request, directory)
        return stagedForm(
          directory,
          validate(endpoint.multipart as NonNullable<typeof endpoint.multipart>, fields),
          files,
        )
      } catch (error) {
        await rm(directory, { recursive: true, force: true })
        throw error
      }
    },
  }
}

function stagedForm<E extends EndpointShape>(
  directory: string,
  fields: unknown,
  files: StagedFile[],
): StagedForm<E> {
  let kept = false
  return {
    fields: fields as Fields<E>,
    files,
    directory,
    keep() {
      kept = true
    },
    async [Symbol.asyncDispose]() {
      if (!kept) await rm(directory, { recursive: true, force: true })
    },
  }
}

function refuseAnnouncedSize(endpoint: EndpointShape, request: FastifyRequest): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (endpoint.maxBodyBytes !== undefined && announced > endpoint.maxBodyBytes)
    throw tooLarge(endpoint.maxBodyBytes)
}

async function readParts(
  endpoint: EndpointShape,
  request: FastifyRequest,
  directory: string,
): Promise<{ fields: Record<string, unknown>; files: StagedFile[] }> {
  const limit = endpoint.maxBodyBytes ?? Number.POSITIVE_INFINITY
  const fields: Record<string, unknown> = Object.create(null)
  const files: StagedFile[] = []
  let total = 0
  // The parser would read and drop what is beyond its own limit up to the end of the form, so ours must be met first.
  for await (const part of request.parts({ limits: { fileSize: limit + 1 } })) {
    if (part.type === 'field') {
      if (Object.hasOwn(fields, part.fieldname)) throw invalidField(part.fieldname, 'is given more than once')
      if (part.valueTruncated) throw invalidField(part.fieldname, `must have at most ${maxFieldBytes} bytes`)
      fields[part.fieldname] = part.value
      continue
    }
    if (part.fieldname !== 'files')
      throw invalidField(part.fieldname, 'is not a known part; name file parts "files"')
    const path = join(directory, String(files.length))
    const bytes = await writePart(part.file, path, limit - total)
    total += bytes
    files.push({ name: part.filename, path, bytes })
  }
  if (files.length === 0) throw invalidField('files', 'must hold at least one file')
  return { fields, files }
}

async function writePart(source: Readable, path: string, allowedBytes: number): Promise<number> {
  let bytes = 0
  await pipeline(
    source,
    async function* counted(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > allowedBytes) throw tooLarge()
        yield chunk
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  )
  return bytes
}

function tooLarge(limit?: number): AppError {
  const size = limit === undefined ? '' : ` of ${limit} bytes`
  return new AppError('PAYLOAD_TOO_LARGE', `The form is larger than this endpoint's limit${size}`)
}

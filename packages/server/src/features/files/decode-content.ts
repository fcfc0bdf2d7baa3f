import { type FileContent, maxFileContentBytes } from '@atelier/contract'
import { AppError, invalidField } from '../../base/app-error.ts'

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes of a content that came as JSON. Throws VALIDATION_ERROR on `field`, and PAYLOAD_TOO_LARGE. */
export function decodeContent(
  { content, encoding }: Pick<FileContent, 'content' | 'encoding'>,
  field = 'content',
): Buffer {
  const bytes = encoding === 'utf8' ? fromText(content, field) : fromBase64(content, field)
  if (bytes.length <= maxFileContentBytes) return bytes
  throw new AppError(
    'PAYLOAD_TOO_LARGE',
    `${field} has ${bytes.length} bytes, and may have ${maxFileContentBytes}`,
    { details: { limit: maxFileContentBytes } },
  )
}

function fromText(content: string, field: string): Buffer {
  // A lone half of a surrogate pair would silently become another character.
  if (!content.isWellFormed()) throw invalidField(field, 'must be valid Unicode')
  return Buffer.from(content, 'utf8')
}

function fromBase64(content: string, field: string): Buffer {
  if (content.length % 4 !== 0 || !base64Pattern.test(content)) {
    throw invalidField(field, 'must be base64 with padding')
  }
  return Buffer.from(content, 'base64')
}

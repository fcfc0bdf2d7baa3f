import { ApiError } from '@atelier/client'
import type { FileContent } from '@atelier/contract'
import { Download, FileQuestion } from 'lucide-react'
import { useEffect } from 'react'
import { versionOf } from '../editing/document-stores.ts'
import { DocumentView } from '../editing/document-view.tsx'
import { useDocuments, useReadOnly } from '../editing/use-documents.ts'
import { formatBytes, formatCount } from '../lib/format.ts'
import { useFile } from '../lib/queries.ts'
import { useStore } from '../lib/store.ts'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import { Crumbs } from './crumbs.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import styles from './files.module.css'
import { rawHref } from './raw-href.ts'

/** One file of the workspace: text to edit, a picture, or what can be said about other bytes. */
export function FileView({ workspaceId, path }: { workspaceId: string; path: string }) {
  const file = useFile(workspaceId, path)
  const documents = useDocuments(workspaceId)
  const readOnly = useReadOnly(workspaceId)
  const edited = useStore(documents.edited, (paths) => paths.has(path))
  const { isFile, isPending } = useWorkspaceFiles()
  const { data } = file
  const isGone = isCode(file.error, 'NOT_FOUND')

  useEffect(() => {
    const document = documents.get(path)
    if (isGone) document?.seen({ revision: null, text: null })
    else if (data !== undefined) document?.seen(versionOf(data))
  }, [data, isGone, documents, path])

  const isText = data?.encoding === 'utf8' && !isGone
  const document = isText ? documents.open(data) : edited ? documents.get(path) : undefined
  if (document !== undefined) {
    const size = isText ? data.size : null
    return <DocumentView key={path} document={document} path={path} size={size} readOnly={readOnly} />
  }
  if (file.isPending) return <Loading label={`Reading ${path}`} />
  if (isGone) return <MissingFile path={path} listed={isPending || isFile(path)} />
  if (isCode(file.error, 'PAYLOAD_TOO_LARGE')) return <LargeFile workspaceId={workspaceId} path={path} />
  if (data === undefined) {
    return (
      <div className={styles.padded}>
        <ErrorNotice error={file.error} onRetry={() => void file.refetch()} />
      </div>
    )
  }
  return (
    <>
      <Crumbs path={path}>
        <span>{formatBytes(data.size)}</span>
        <DownloadLink workspaceId={workspaceId} path={path} />
      </Crumbs>
      <BinaryFile file={data} />
    </>
  )
}

const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
}

function BinaryFile({ file }: { file: FileContent }) {
  const type = imageTypes[file.path.slice(file.path.lastIndexOf('.') + 1).toLowerCase()]
  if (type !== undefined) {
    return (
      <div className={styles.image}>
        <img src={`data:${type};base64,${file.content}`} alt={file.path} />
      </div>
    )
  }
  return (
    <EmptyState icon={FileQuestion} title="Not text">
      <p>
        This file holds {formatCount(file.size, 'byte')} that are not text, so there is nothing to read here.
      </p>
    </EmptyState>
  )
}

function LargeFile({ workspaceId, path }: { workspaceId: string; path: string }) {
  return (
    <EmptyState
      icon={FileQuestion}
      title="Too large to open here"
      actions={<DownloadLink workspaceId={workspaceId} path={path} />}
    >
      <p>“{path}” has more bytes than an editor in a browser takes. Open it in a terminal, or download it.</p>
    </EmptyState>
  )
}

function DownloadLink({ workspaceId, path }: { workspaceId: string; path: string }) {
  return (
    <a className={styles.download} href={rawHref(workspaceId, path)} download>
      <Download size={14} aria-hidden />
      Download
    </a>
  )
}

function MissingFile({ path, listed }: { path: string; listed: boolean }) {
  return (
    <EmptyState icon={FileQuestion} title="No such file">
      <p>
        {listed
          ? `“${path}” is listed, but its content was not stored: only text is, for now.`
          : `There is no “${path}” in this workspace. It may have been renamed or deleted.`}
      </p>
    </EmptyState>
  )
}

function isCode(error: unknown, code: ApiError['code']): boolean {
  return error instanceof ApiError && error.code === code
}

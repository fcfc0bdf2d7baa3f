import { ApiError } from '@atelier/client'
import type { FileContent } from '@atelier/contract'
import { FileQuestion } from 'lucide-react'
import { formatBytes, formatCount } from '../lib/format.ts'
import { useFile } from '../lib/queries.ts'
import { useIde } from '../shell/use-ide.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { ErrorNotice } from '../ui/error-notice.tsx'
import { EmptyState, Loading } from '../ui/feedback.tsx'
import { CodeView } from './code-view.tsx'
import { Crumbs } from './crumbs.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'
import styles from './files.module.css'

/** One file of the workspace, read-only. */
export function FileView({ workspaceId, path }: { workspaceId: string; path: string }) {
  const file = useFile(workspaceId, path)
  const { isFile, isPending } = useWorkspaceFiles()
  if (file.isPending) return <Loading label={`Reading ${path}`} />
  if (file.isError) {
    if (file.error instanceof ApiError && file.error.code === 'NOT_FOUND') {
      return <MissingFile path={path} listed={isPending || isFile(path)} />
    }
    return (
      <div className={styles.padded}>
        <ErrorNotice error={file.error} onRetry={() => void file.refetch()} />
      </div>
    )
  }
  return (
    <>
      <Crumbs path={path}>
        <span>{formatBytes(file.data.size)}</span>
        {file.data.encoding === 'utf8' && <CopyButton label="Copy the file" text={file.data.content} />}
      </Crumbs>
      <FileBody file={file.data} />
    </>
  )
}

function FileBody({ file }: { file: FileContent }) {
  const { location, go } = useIde()
  if (file.encoding === 'base64') return <BinaryFile file={file} />
  if (file.content === '') return <p className={styles.none}>This file is empty.</p>
  return (
    <CodeView
      text={file.content}
      fileName={file.path.slice(file.path.lastIndexOf('/') + 1)}
      lines={location.lines}
      onLines={(lines) => go({ lines }, { replace: true })}
    />
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

import { readRawFile } from '@atelier/contract'

/** Where the bytes of a file are downloaded. */
export function rawHref(workspaceId: string, path: string): string {
  return `${readRawFile.path}?${new URLSearchParams({ workspaceId, path })}`
}

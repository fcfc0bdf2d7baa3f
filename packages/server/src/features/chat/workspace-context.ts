import type { RelevanceScore } from '@atelier/contract'
import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'

/** Lines of a file that may answer the question. */
export interface Passage {
  path: string
  /** one-based, both included */
  startLine: number
  endLine: number
  content: string
  language: string | null
  /** SHA-256 (hex) of the whole file */
  contentSha256: string
}

/** What retrieval gives to a question; `relevanceScore` is null when nothing relevant was found. */
export interface RetrievedContext {
  passages: readonly Passage[]
  relevanceScore: RelevanceScore | null
}

/** The part of retrieval that a chat needs. */
export interface ContextSource {
  /** Passages of at most `budgetTokens` tokens, best first. */
  contextFor(scope: WorkspaceScope, question: string, budgetTokens: number): Promise<RetrievedContext>
}

export interface WorkspaceFile {
  path: string
  content: string
  language: string | null
  contentSha256: string
}

/** The part of the workspace's files that a chat needs. */
export interface FileSource {
  /** `null` when the workspace has no text file of that path. */
  readText(scope: WorkspaceScope, path: string): Promise<WorkspaceFile | null>
}

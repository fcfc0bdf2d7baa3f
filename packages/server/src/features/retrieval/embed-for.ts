import type { WorkspaceScope } from '../../platform/identity/workspace-scope.ts'
import type { Embedder } from '../../platform/models/embedder.ts'

/** Embeds for a workspace, at the expense of who acts in it. Rejects as an embedder does, or when the budget is spent. */
export type EmbedFor = (
  scope: WorkspaceScope,
  ...call: [texts: string[], kind: 'query' | 'document', signal: AbortSignal]
) => ReturnType<Embedder['embed']>

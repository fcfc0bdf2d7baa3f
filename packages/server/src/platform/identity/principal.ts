import type { Scope } from '@atelier/contract'

interface SignedIn {
  userId: string
  sessionId: string
  admin: boolean
}

/** Who makes a request, after the credential has been checked. */
export type Principal =
  | ({ kind: 'cookie' } & SignedIn)
  | ({ kind: 'token' } & SignedIn)
  | {
      kind: 'api-key'
      userId: string
      admin: false
      apiKeyId: string
      scopes: readonly Scope[]
      /** `null`: every workspace of the user */
      workspaceIds: readonly string[] | null
    }

/** The workspaces an API key is made for; `null`: every workspace of the user. */
export function workspacesOf(principal: Principal): readonly string[] | null {
  return principal.kind === 'api-key' ? principal.workspaceIds : null
}

import type { WorkspaceRole } from '@atelier/contract'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../../platform/identity/principal.ts'
import { createWorkspaceGuard } from './workspace-guard.ts'

const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'
const person: Principal = { kind: 'cookie', userId: 'usr_1', sessionId: 'ses_1', admin: true }

function key(workspaceIds: readonly string[] | null): Principal {
  return { kind: 'api-key', userId: 'usr_1', admin: false, apiKeyId: 'key_1', scopes: [], workspaceIds }
}

function guardWithRole(role: WorkspaceRole | null) {
  const asked: string[][] = []
  const guard = createWorkspaceGuard({
    async findRole(...ids) {
      asked.push(ids)
      return role
    },
  })
  return { guard, asked }
}

describe('the workspace guard', () => {
  it('[WS1] lets a member in, in the member’s own role', async () => {
    const { guard, asked } = guardWithRole('editor')
    expect(await guard(person, workspaceId, 'viewer')).toEqual({
      workspaceId,
      userId: 'usr_1',
      role: 'editor',
    })
    expect(asked).toEqual([[workspaceId, 'usr_1']])
  })

  it('[WS1] to a stranger the workspace does not exist, an administrator included', async () => {
    const { guard } = guardWithRole(null)
    await expect(guard(person, workspaceId, 'viewer')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it.each([
    ['viewer', 'viewer', true],
    ['viewer', 'editor', false],
    ['viewer', 'owner', false],
    ['editor', 'editor', true],
    ['editor', 'owner', false],
    ['owner', 'editor', true],
    ['owner', 'owner', true],
  ] as const)('[WS2] a %s asking for %s: %s', async (role, minimumRole, allowed) => {
    const entering = guardWithRole(role).guard(person, workspaceId, minimumRole)
    if (allowed) expect(await entering).toMatchObject({ role })
    else await expect(entering).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  it('[WS3] an API key that does not list the workspace is a stranger, and costs no query', async () => {
    const { guard, asked } = guardWithRole('owner')
    await expect(guard(key(['ws_other']), workspaceId, 'viewer')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(guard(key([]), workspaceId, 'viewer')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(asked).toEqual([])
    expect(await guard(key([workspaceId]), workspaceId, 'viewer')).toMatchObject({ role: 'owner' })
    expect(await guard(key(null), workspaceId, 'viewer')).toMatchObject({ role: 'owner' })
  })
})

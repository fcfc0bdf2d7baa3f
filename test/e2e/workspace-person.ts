import { addWorkspaceMember, createFile, createWorkspace, type WorkspaceRole } from '@atelier/contract'
import { type Person, signUpPerson } from '@atelier/testkit'
import type { Browser } from 'playwright-core'
import { type OpenPage, openPage } from './open-page.ts'

/** A person who calls the interface and can open the page, signed in. */
export interface WorkspacePerson {
  readonly person: Person
  send<Data>(method: string, path: string, body?: unknown): Promise<Data>
  open(browser: Browser): Promise<OpenPage>
}

export async function signUpWorkspacePerson(url: string): Promise<WorkspacePerson> {
  const person = await signUpPerson(url)
  return {
    person,
    async send<Data>(method: string, path: string, body?: unknown) {
      const response = await fetch(url + path, {
        method,
        headers: { ...person.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as { data: Data }
      if (!response.ok) throw new Error(JSON.stringify(answer))
      return answer.data
    },
    async open(browser) {
      const view = await openPage(browser, url)
      const [name = '', value = ''] = person.cookie.split(/=(.*)/s)
      await view.page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }])
      return view
    },
  }
}

/** Makes a workspace with files in it, and the other people members. Answers its id. */
export async function workspaceWith(
  owner: WorkspacePerson,
  options: { files: Record<string, string>; members?: [WorkspacePerson, WorkspaceRole][] },
): Promise<string> {
  const { id } = await owner.send<{ id: string }>('POST', createWorkspace.path, { name: 'engine' })
  for (const [path, content] of Object.entries(options.files))
    await owner.send('POST', createFile.path, { workspaceId: id, path, content })
  for (const [{ person }, role] of options.members ?? []) {
    const path = addWorkspaceMember.path.replace(':workspaceId', id)
    await owner.send('POST', path, { email: person.email, role })
  }
  return id
}

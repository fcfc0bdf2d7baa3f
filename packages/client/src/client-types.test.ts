import {
  type ChatStreamEvent,
  chatEnhanced,
  createWorkspace,
  importIntoWorkspace,
  type Job,
  listModels,
  listWorkspaces,
  type ModelCatalog,
  type Page,
  readFiles,
  renameWorkspace,
  type Workspace,
  watchWorkspaceJob,
} from '@atelier/contract'
import { describe, expectTypeOf, test } from 'vitest'
import { type ClientEvent, createClient } from './client.ts'

/** Never run: the compiler is what tests here, and `tsc` fails where a line below does not hold. */
async function typedCalls() {
  const client = createClient({ baseUrl: '' })
  const workspaceId = 'ws_01JD8XQ4ZK3V5N6P7R8S9T0ABC'

  expectTypeOf(await client.call(listModels)).toEqualTypeOf<ModelCatalog>()
  expectTypeOf(await client.call(listWorkspaces)).toExtend<Page<Workspace>>()
  expectTypeOf(await client.call(listWorkspaces, { query: { limit: 10 } })).toExtend<Page<Workspace>>()
  expectTypeOf(await client.call(createWorkspace, { body: { name: 'A' } })).toEqualTypeOf<Workspace>()
  expectTypeOf(
    await client.call(renameWorkspace, { params: { workspaceId }, body: { name: 'B' } }),
  ).toEqualTypeOf<Workspace>()
  const files = await client.call(readFiles, { query: { workspaceId, depth: 2 } })
  if (files.kind === 'directory') expectTypeOf(files.entries[0]!.kind).toExtend<string>()
  else expectTypeOf(files.content).toBeString()
  await client.call(importIntoWorkspace, { params: { workspaceId }, form: new FormData() })

  const chat = await client.stream(chatEnhanced, { body: { message: 'Hello', model: 'local' } })
  expectTypeOf(chat.events).toEqualTypeOf<AsyncIterable<ClientEvent<ChatStreamEvent>>>()
  const job = await client.stream(watchWorkspaceJob, { params: { workspaceId, jobId: 'job' } })
  expectTypeOf(job.events).toEqualTypeOf<AsyncIterable<ClientEvent<Job>>>()

  // @ts-expect-error the query names a workspace
  await client.call(readFiles)
  // @ts-expect-error a number is asked for, whatever the coercion would take
  await client.call(readFiles, { query: { workspaceId, depth: 'deep' } })
  // @ts-expect-error the path parameter is missing
  await client.call(renameWorkspace, { body: { name: 'B' } })
  // @ts-expect-error an endpoint without a body takes none
  await client.call(listModels, { body: {} })
  // @ts-expect-error a form is needed
  await client.call(importIntoWorkspace, { params: { workspaceId } })
}

describe('the typed client', () => {
  test('[CLIENT1] derives the types of input, answer and events from the contract', () => {
    expectTypeOf(typedCalls).returns.resolves.toBeVoid()
  })
})

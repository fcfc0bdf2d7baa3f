import { createClient } from '@atelier/client'
import {
  addWorkspaceMember,
  getIndexState,
  listApiKeys,
  readAllUsage,
  readUsage,
  searchWorkspace,
  setBudget,
  uploadFiles,
} from '@atelier/contract'
import {
  type MockProviders,
  type Person,
  signUpPerson,
  startMockProviders,
  startTestServer,
  type TestServer,
} from '@atelier/testkit'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formOf, openWorkplace } from './import-requests.ts'

const hosted = 'openai/text-embedding-3-small'
const input = ['function add(a, b)', 'a quick fox']
const file = 'export function parseInvoice(text: string) {\n  return text.split(";")\n}\n'

let mock: MockProviders
let server: TestServer
let admin: Person

beforeAll(async () => {
  mock = await startMockProviders()
  server = await startTestServer({ environment: { ...mock.environment, EMBEDDING_MODEL: hosted } })
  admin = await signUpPerson(server.url)
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await mock?.[Symbol.asyncDispose]()
})

const clientOf = ({ url }: TestServer, { headers }: Person) =>
  createClient({ baseUrl: url, headers, validateAnswers: true })

async function openAiOf({ url }: TestServer, person: Person) {
  const apiKey = await person.apiKey({ scopes: ['ai'] })
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}

const embeddingRequests = () => mock.requests.filter(({ path }) => path.endsWith('/embeddings')).length

describe('/v1/embeddings', () => {
  it('[LED11] of a provider is an entry with its exact cost, and 429 where the budget is spent', async () => {
    const person = await signUpPerson(server.url)
    const openai = await openAiOf(server, person)
    const { usage } = await openai.embeddings.create({ model: hosted, input })
    // 8 tokens at 0.02 USD a million; the mock reports none.
    expect(usage.prompt_tokens).toBe(8)
    const report = () => clientOf(server, person).call(readUsage)
    await expect
      .poll(async () => (await report()).totals)
      .toMatchObject({
        calls: 1,
        inputTokens: 8,
        outputTokens: 0,
        cost: '0.00000016',
        estimated: 1,
        unpriced: 0,
      })
    expect((await report()).byModel).toMatchObject([{ model: hosted }])
    await clientOf(server, admin).call(setBudget, {
      body: { subject: 'user', subjectId: person.user.id, period: 'day', cap: '0.0000003' },
    })
    const before = embeddingRequests()
    const refused = await openai.embeddings.create({ model: hosted, input }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError)
    expect(embeddingRequests()).toBe(before)
    expect((await report()).totals.calls).toBe(1)
  })

  it('[LED11, LED2] never overspends a budget with many requests at once', async () => {
    const person = await signUpPerson(server.url)
    const openai = await openAiOf(server, person)
    const cap = 0.000005
    await clientOf(server, admin).call(setBudget, {
      body: { subject: 'user', subjectId: person.user.id, period: 'day', cap: cap.toFixed(6) },
    })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, () => openai.embeddings.create({ model: hosted, input: 'x'.repeat(100) })),
    )
    const answered = outcomes.filter(({ status }) => status === 'fulfilled').length
    expect(answered).toBeGreaterThan(0)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(OpenAI.RateLimitError)
    }
    const totals = async () => (await clientOf(server, person).call(readUsage)).totals
    await expect.poll(async () => (await totals()).calls).toBe(answered)
    expect(Number((await totals()).cost)).toBeLessThanOrEqual(cap)
  })

  it.each([
    ['of the keyless embedder costs nothing', {}, 'local/hashed', 0],
    [
      'of a model without a known price is unpriced',
      { EMBEDDING_MODEL: 'openai-compatible/mine', EMBEDDING_DIMENSIONS: '1536' },
      'openai-compatible/mine',
      1,
    ],
  ])('[LED11, LED6] %s', async (_, environment, model, unpriced) => {
    await using other = await startTestServer({ environment: { ...mock.environment, ...environment } })
    const person = await signUpPerson(other.url)
    await (await openAiOf(other, person)).embeddings.create({ model, input })
    await expect
      .poll(async () => (await clientOf(other, person).call(readUsage)).totals)
      .toMatchObject({ calls: 1, inputTokens: 8, cost: '0', unpriced })
  })
})

describe('a workspace with hosted embeddings', () => {
  it('[LED12] counts what is indexed and searched for it and for who asked', async () => {
    const owner = await signUpPerson(server.url)
    const editor = await signUpPerson(server.url)
    const { api, workspaceId, import: importFiles } = await openWorkplace(server.url, owner)
    const invited = { email: editor.user.email, role: 'editor' as const }
    await api.call(addWorkspaceMember, { params: { workspaceId }, body: invited })
    const theirs = clientOf(server, editor)
    await theirs.call(uploadFiles, { form: formOf([['src/invoice.ts', file]], { workspaceId }) })
    await theirs.call(searchWorkspace, { body: { query: 'where are invoices parsed', workspaceId } })
    const byWorkspace = async (client: typeof api) => (await client.call(readUsage)).byWorkspace
    await expect.poll(() => byWorkspace(theirs)).toMatchObject([{ workspaceId, calls: 2 }])
    expect(await byWorkspace(api)).toEqual([])
    // A job has no caller.
    expect(await importFiles([['src/other.ts', file.replace('Invoice', 'Receipt')]])).toMatchObject({
      state: 'succeeded',
    })
    await expect.poll(() => byWorkspace(api)).toMatchObject([{ workspaceId, calls: 1 }])
    const everybody = await clientOf(server, admin).call(readAllUsage)
    expect(everybody.byWorkspace).toContainEqual(expect.objectContaining({ workspaceId, calls: 3 }))
  })

  it('[LED12] is searched by words with a key whose budget is spent', async () => {
    const person = await signUpPerson(server.url)
    const { api, workspaceId } = await openWorkplace(server.url, person)
    await api.call(uploadFiles, { form: formOf([['src/invoice.ts', file]], { workspaceId }) })
    const headers = { 'x-api-key': await person.apiKey() }
    const [key] = (await api.call(listApiKeys)).items
    await clientOf(server, admin).call(setBudget, {
      body: { subject: 'api-key', subjectId: key?.id ?? '', period: 'day', cap: '0' },
    })
    const withKey = createClient({ baseUrl: server.url, headers, validateAnswers: true })
    const search = async (client: typeof api) =>
      (await client.call(searchWorkspace, { body: { query: 'parseInvoice', workspaceId } })).results
    expect(await search(withKey)).toMatchObject([{ similarity: null }])
    expect(await search(api)).toMatchObject([{ similarity: expect.any(Number) }])
  })

  it('[LED12] with a spent budget is indexed and searched by words', async () => {
    const person = await signUpPerson(server.url)
    const { api, workspaceId } = await openWorkplace(server.url, person)
    const upload = (path: string, text: string) =>
      api.call(uploadFiles, { form: formOf([[path, text]], { workspaceId }) })
    const search = () => api.call(searchWorkspace, { body: { query: 'parseInvoice', workspaceId } })
    await upload('src/invoice.ts', file)
    expect((await search()).results[0]?.similarity).toEqual(expect.any(Number))
    await clientOf(server, admin).call(setBudget, {
      body: { subject: 'workspace', subjectId: workspaceId, period: 'day', cap: '0' },
    })
    const before = embeddingRequests()
    expect((await search()).results).toMatchObject([{ similarity: null, path: 'src/invoice.ts' }])
    const { totals } = await upload('src/receipt.ts', file.replace('Invoice', 'Receipt'))
    expect(totals).toMatchObject({ indexed: 1, failed: 0 })
    expect(await api.call(getIndexState, { query: { workspaceId } })).toMatchObject({
      chunks: 2,
      vectors: 1,
      pending: 1,
    })
    expect(embeddingRequests()).toBe(before)
  })
})

import { type Client, createClient } from '@atelier/client'
import { chatUnified, createChatCompletion, readUsage } from '@atelier/contract'
import { signUpPerson, startTestServer, type TestServer } from '@atelier/testkit'
import { type Fault, type FaultProvider, startFaultProvider } from './gateway-fault-provider.ts'
import type { Dialect } from './gateway-wire-bytes.ts'

/** One provider package with the protocol that it speaks, a model of it, and a model of another that is well. */
export interface Lane {
  name: string
  model: string
  fallback: string
  /** of the fallback's answer */
  fallbackCost: string
  provider: FaultProvider
  client: Client
}

interface Row {
  name: string
  dialect: Dialect
  model: string
  /** variables of its key and address */
  variables: [key: string, address: string]
}

const mistral: Row = {
  name: 'Mistral’s chat',
  dialect: 'chat-usage-at-end',
  model: 'mistral-small-4',
  variables: ['MISTRAL_API_KEY', 'MISTRAL_BASE_URL'],
}
const anthropic: Row = {
  name: 'Anthropic’s messages',
  dialect: 'anthropic',
  model: 'claude-haiku-5-5',
  variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
}
const openai: Row = {
  name: 'OpenAI’s chat completions',
  dialect: 'chat',
  model: 'gpt-6-luna',
  variables: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
}

/** Two servers, because one speaks one of OpenAI's two protocols to it. */
const installations: {
  rows: Row[]
  healthy: Row
  healthyCost: string
  environment: Record<string, string>
}[] = [
  {
    rows: [
      openai,
      anthropic,
      {
        name: 'Google’s generateContent',
        dialect: 'google',
        model: 'gemini-3.8-flash',
        variables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_GENERATIVE_AI_BASE_URL'],
      },
      {
        name: 'Groq’s chat',
        dialect: 'chat-groq',
        model: 'gpt-oss-20b',
        variables: ['GROQ_API_KEY', 'GROQ_BASE_URL'],
      },
      {
        name: 'DeepSeek’s chat',
        dialect: 'chat-usage-at-end',
        model: 'deepseek-flash',
        variables: ['DEEPSEEK_API_KEY', 'DEEPSEEK_BASE_URL'],
      },
      {
        name: 'a compatible server',
        dialect: 'chat',
        model: 'muse-spark-1.3',
        variables: ['MODEL_API_KEY', 'META_BASE_URL'],
      },
      {
        name: 'xAI’s responses',
        dialect: 'responses',
        model: 'grok-4.3',
        variables: ['XAI_API_KEY', 'XAI_BASE_URL'],
      },
    ],
    healthy: mistral,
    healthyCost: '0.000222',
    environment: {},
  },
  {
    rows: [{ ...openai, name: 'OpenAI’s responses', dialect: 'responses' }, mistral],
    healthy: anthropic,
    healthyCost: '0.00016',
    environment: { OPENAI_API: 'responses' },
  },
]

export interface FaultLanes extends AsyncDisposable {
  readonly lanes: readonly Lane[]
  /** Time goes by on the servers' clock, until no breaker is open any more. */
  letBreakersRest(): void
}

/** `seconds`: how long a provider may take to its first part, and be silent; answers may take twice as long. */
export async function startFaultLanes(seconds: number): Promise<FaultLanes> {
  await using stack = new AsyncDisposableStack()
  let ahead = 0
  const lanes: Lane[] = []
  for (const { rows, healthy, healthyCost, environment } of installations) {
    const variables: Record<string, string> = {}
    const start = async ({ dialect, variables: [key, address] }: Row) => {
      const provider = stack.use(await startFaultProvider(dialect))
      Object.assign(variables, { [key]: 'a-key', [address]: provider.origin })
      return provider
    }
    await start(healthy)
    const providers = await Promise.all(rows.map(start))
    const server = stack.use(
      await startTestServer({
        environment: {
          ...variables,
          ...environment,
          LOCAL_MODEL_DISCOVERY: 'off',
          MODEL_FIRST_TOKEN_TIMEOUT_SECONDS: String(seconds),
          MODEL_IDLE_TIMEOUT_SECONDS: String(seconds),
          MODEL_TOTAL_TIMEOUT_SECONDS: String(seconds * 2),
        },
        overrides: { clock: () => Date.now() + ahead },
      }),
    )
    const clients = await Promise.all(rows.map(() => clientOf(server)))
    for (const [index, { name, model }] of rows.entries()) {
      const [provider, client] = [providers[index], clients[index]]
      if (provider === undefined || client === undefined) throw new Error('a lane is incomplete')
      lanes.push({ name, model, fallback: healthy.model, fallbackCost: healthyCost, provider, client })
    }
  }
  const owned = stack.move()
  return {
    lanes,
    letBreakersRest() {
      ahead += 6 * 60_000
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function clientOf({ url }: TestServer): Promise<Client> {
  const person = await signUpPerson(url)
  const key = await person.apiKey({ expiresInDays: 365 })
  return createClient({ baseUrl: url, headers: { 'x-api-key': key }, validateAnswers: true })
}

const messages = [{ role: 'user' as const, content: 'Count to sixty.' }]

const questionOf = ({ model, fallback }: Lane) => ({ model, models: [fallback], messages })

export interface StreamOptions {
  reset?: boolean
  /** told at every piece */
  onText?: (runId: string) => void
}

/** What a reader of a stream has at its end. */
export async function streamed(lane: Lane, options: StreamOptions = {}) {
  const { headers, events } = await lane.client.stream(chatUnified, {
    body: { ...questionOf(lane), stream: true, ...(options.reset && { reset: true }) },
  })
  let text = ''
  let resets = 0
  const terminals = []
  for await (const { event } of events) {
    if ('done' in event) terminals.push(event)
    else if ('reset' in event) {
      text = ''
      resets += 1
    } else if ('content' in event) {
      text += event.content
      options.onText?.(headers.get('x-run-id') ?? '')
    }
  }
  return { text, resets, terminals, modelUsed: headers.get('x-model-used') }
}

/** An answer that is sent whole. */
export async function whole(lane: Lane) {
  const { message, model, finishReason, usage, cost, attempts } = await lane.client.call(chatUnified, {
    body: questionOf(lane),
  })
  return { text: message.content, modelUsed: model, terminals: [{ finishReason, usage, cost, attempts }] }
}

/** Reads the beginning of a stream in OpenAI's dialect and closes the connection. */
export async function leaveInTheMiddle(lane: Lane): Promise<void> {
  const caller = new AbortController()
  const body = { model: lane.model, messages, stream: true }
  const { body: events } = await lane.client.raw(createChatCompletion, { body }, { signal: caller.signal })
  const reader = events?.getReader()
  await reader?.read()
  caller.abort()
  await reader?.closed.catch(() => undefined)
}

/** What the ledger says of one model, on any day: the servers' clock runs ahead of the database's. */
export async function ledgerOf({ client }: Lane, model: string) {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const { byModel } = await client.call(readUsage, { query: { from: day(-1), to: day(1) } })
  const row = byModel.find((one) => one.model === model)
  const { calls = 0, estimated = 0, outputTokens = 0, cost = '0' } = row ?? {}
  return { calls, estimated, outputTokens, cost }
}

/** Every lane at once, or one after the other. */
export async function everyLane<Result>(
  lanes: readonly Lane[],
  work: (lane: Lane) => Promise<Result>,
  together = true,
): Promise<Record<string, Result>> {
  const results: [string, Result | Promise<Result>][] = []
  for (const lane of lanes) results.push([lane.name, together ? work(lane) : await work(lane)])
  const ended = results.map(async ([name, result]) => [name, await result] as const)
  return Object.fromEntries(await Promise.all(ended))
}

export async function becomeEverywhere(lanes: readonly Lane[], fault: Fault): Promise<void> {
  await Promise.all(lanes.map(({ provider }) => provider.become(fault)))
}

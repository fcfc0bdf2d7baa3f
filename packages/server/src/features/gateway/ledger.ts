import type { FinishReason, ModelPricing, ModelRecord, TokenRates, Usage } from '@atelier/contract'
import { AppError } from '../../base/app-error.ts'
import { waitInWords } from '../../base/wait-in-words.ts'
import { costOf } from '../../platform/models/cost.ts'
import { createEntryWriter } from './entry-writer.ts'

/** Whose budgets a call counts against. */
export interface CallOwner {
  userId: string
  workspaceId: string | null
  apiKeyId: string | null
}

/** A call that has ended. */
export interface CallEntry extends CallOwner {
  callId: string
  runId: string
  model: string
  provider: string
  finishReason: FinishReason
  usage: Usage
  /** USD; null: the price is not known */
  cost: string | null
  /** what budgets are charged: the cost, or a cautious guess where it is not known */
  charge: string
}

export type Grant =
  /** no budget binds the owner */
  | { kind: 'unbound' }
  | { kind: 'granted'; amount: string }
  /** seconds until a period begins anew; null: never */
  | { kind: 'refused'; retryAfterSeconds: number | null }

/** Leave to make one call, and the most it may write. */
export interface CallLeave {
  callId: string
  /** tokens of the answer; undefined: as many as the caller wants */
  maxOutputTokens: number | undefined
}

/** Who pays for what. */
export interface Ledger extends AsyncDisposable {
  /** Takes room in the budgets for the most a call may cost. Rejects with RATE_LIMITED when they do not suffice. */
  reserve(owner: CallOwner, call: PlannedCall): Promise<CallLeave>
  /** The call was not made, or gave nothing: its room is free again. */
  release(leave: CallLeave): void
  /** The call has ended; its entry is written soon, together with others. */
  settle(leave: CallLeave, call: EndedCall): void
  /** Resolves when the calls that were settled here are written, or the database did not answer. */
  written(): Promise<void>
  /** Budgets were changed here: the next call looks at them. */
  budgetsChanged(): void
}

/** What the ledger needs to know of a model, be it of language or of embeddings. */
type PricedModel = Pick<ModelRecord, 'key' | 'id' | 'pricing'>

export interface PlannedCall {
  model: PricedModel & Pick<ModelRecord, 'maxOutputTokens'>
  /** bytes of the prompt: no encoder makes more tokens of it */
  promptBytes: number
  /** tokens of the answer that the caller wants at most */
  maxTokens: number | undefined
}

export interface EndedCall extends CallOwner {
  runId: string
  model: PricedModel
  finishReason: FinishReason
  usage: Usage
  cost: string | null
}

/** Where the ledger is kept. */
export interface LedgerAccess {
  anyBudget(): Promise<boolean>
  /**
   * Takes room in every budget that binds the owner: `most` where it fits, else what is left if that is `least` or
   * more. Parallel calls never overspend.
   */
  reserve(callId: string, owner: CallOwner, amounts: { least: string; most: string }): Promise<Grant>
  /** Gives room back that calls did not need. */
  release(callIds: readonly string[]): Promise<void>
  releaseExpired(): Promise<void>
  /** Writes entries and turns their reservations into what was spent: all of it or nothing. */
  settle(entries: readonly CallEntry[]): Promise<void>
}

/** Tokens of an answer that is worth having, and of one whose length the caller leaves open, under a budget. */
const fewestOutputTokens = 256
const usualOutputTokens = 16_384

/** How long it is taken for known that there is no budget at all, in milliseconds: another node may have made one. */
const noBudgetMilliseconds = 5_000

const expiryMilliseconds = 5 * 60_000

export function createLedger(dependencies: {
  store: LedgerAccess
  /** rates where a price is not known: the dearest that are */
  cautiousRates: () => TokenRates
  clock: () => number
  logger: { error(fields: object, message: string): void }
}): Ledger {
  const { store, cautiousRates, clock, logger } = dependencies
  const writer = createEntryWriter({ write: (entries) => store.settle(entries), logger })
  let budgets = { any: true, lookAgain: 0 }
  const expiry = setInterval(() => {
    store
      .releaseExpired()
      .catch((error: unknown) => logger.error({ err: error }, 'reservations do not expire'))
  }, expiryMilliseconds)
  expiry.unref()

  async function anyBudget(): Promise<boolean> {
    if (clock() >= budgets.lookAgain) {
      budgets = { any: await store.anyBudget(), lookAgain: clock() + noBudgetMilliseconds }
    }
    return budgets.any
  }

  const pricingOf = (model: PricedModel): ModelPricing => model.pricing ?? cautiousRates()

  return {
    async reserve(owner, { model, promptBytes, maxTokens }) {
      const callId = crypto.randomUUID()
      if (!(await anyBudget())) return { callId, maxOutputTokens: undefined }
      const pricing = withKnownRates(pricingOf(model), cautiousRates())
      const wanted = Math.min(maxTokens ?? usualOutputTokens, model.maxOutputTokens ?? usualOutputTokens)
      const bound = (outputTokens: number) => mostOf(pricing, promptBytes, outputTokens)
      const least = bound(Math.min(wanted, fewestOutputTokens))
      const grant = await store.reserve(callId, owner, { least, most: bound(wanted) })
      if (grant.kind === 'unbound') return { callId, maxOutputTokens: undefined }
      if (grant.kind === 'refused') throw spent(grant.retryAfterSeconds)
      return { callId, maxOutputTokens: affordable(pricing, { promptBytes, amount: grant.amount, wanted }) }
    },

    release({ callId }) {
      if (!budgets.any) return
      store.release([callId]).catch((error: unknown) => {
        logger.error({ err: error, callId }, 'a reservation is not released before it expires')
      })
    },

    // Only what is written is kept: whoever settles may pass the whole request, prompt and connection with it.
    settle({ callId }, call) {
      const { runId, userId, workspaceId, apiKeyId, finishReason, usage, cost } = call
      const { key, id, pricing } = call.model
      const known = pricing === null ? null : cost
      const charge = known ?? costOf(usage, withKnownRates(pricingOf(call.model), cautiousRates())) ?? '0'
      const entry = { callId, runId, userId, workspaceId, apiKeyId, model: key, provider: id }
      writer.add({ ...entry, finishReason, usage, cost, charge })
    },

    written: () => writer.flushed(),

    budgetsChanged() {
      budgets = { any: true, lookAgain: 0 }
    },

    async [Symbol.asyncDispose]() {
      clearInterval(expiry)
      await writer[Symbol.asyncDispose]()
    },
  }
}

/** No rate of it is unknown: long prompts with unknown rates cost what the dearest model costs. */
function withKnownRates(pricing: ModelPricing, cautious: TokenRates): ModelPricing {
  const { longContext, ...rates } = pricing
  if (longContext === undefined) return rates
  return { ...rates, longContext: { ...longContext, rates: longContext.rates ?? cautious } }
}

/** The most that a call can cost: every byte a token, at the dearest of the rates that a prompt can have. */
function mostOf(pricing: ModelPricing, promptBytes: number, outputTokens: number): string {
  const usage = { ...promptUsage(promptBytes), outputTokens, reasoningTokens: 0, estimated: true }
  const asInput = costOf({ ...usage, cacheWriteTokens: 0 }, pricing) ?? '0'
  const asWrite = costOf({ ...usage, inputTokens: 0 }, pricing) ?? '0'
  return Number(asInput) >= Number(asWrite) ? asInput : asWrite
}

function promptUsage(promptBytes: number) {
  return { inputTokens: promptBytes, cachedInputTokens: 0, cacheWriteTokens: promptBytes }
}

/** How long an answer may be for an amount of money: found by halving, since rates may change with the length. */
function affordable(
  pricing: ModelPricing,
  { promptBytes, amount, wanted }: { promptBytes: number; amount: string; wanted: number },
): number {
  let low = 1
  let high = wanted
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (Number(mostOf(pricing, promptBytes, middle)) <= Number(amount)) low = middle
    else high = middle - 1
  }
  return low
}

function spent(retryAfterSeconds: number | null): AppError {
  const when = retryAfterSeconds === null ? '' : `; more is there ${waitInWords(retryAfterSeconds)}`
  return new AppError('RATE_LIMITED', `The budget for models is spent${when}`, {
    details: { kind: 'budget', ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }) },
  })
}

import type { ColumnType, Generated } from 'kysely'

/**
 * Every table, as Kysely sees it. One interface a table, one section a feature, in the order of the migrations.
 * Columns are named as in SQL (snake_case). What a column gives when read: `timestamptz` a Date, `date` a
 * `YYYY-MM-DD` string, `int8` and `count(*)` a number, `numeric` a string, `jsonb` the parsed value, `vector` a
 * string such as `[1,2]`, `bytea` a Buffer. When written, a JSON array must go through `JSON.stringify`: the driver
 * turns a bare array into a PostgreSQL array.
 */
export interface Tables {
  // foundation
  schema_migrations: SchemaMigrationTable
  // identity
  users: UserTable
  administrator_claim: AdministratorClaimTable
  sessions: SessionTable
  accounts: AccountTable
  verifications: VerificationTable
  jwks: JwksTable
  api_keys: ApiKeyTable
  // workspaces
  workspaces: WorkspaceTable
  workspace_members: WorkspaceMemberTable
  // retrieval
  retrieval_indexes: RetrievalIndexTable
  contents: ContentTable
  documents: DocumentTable
  chunks: ChunkTable
  chunk_vectors: ChunkVectorTable
  // jobs
  jobs: JobTable
  // chats and runs
  chats: ChatTable
  chat_messages: ChatMessageTable
  runs: RunTable
  run_events: RunEventTable
  // ledger
  usage_entries: UsageEntryTable
  budgets: BudgetTable
  budget_reservations: BudgetReservationTable
}

/** A `timestamptz` column with a default: read as Date, written as Date or ISO string, or left out. */
export type TimestampWithDefault = ColumnType<Date, Date | string | undefined, Date | string>

/** A `timestamptz` column without a default. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>

// --- foundation -------------------------------------------------------------------------------------------------

/** What the migrator has applied; written by it alone. */
export interface SchemaMigrationTable {
  /** file name without `.sql`, e.g. `0001-foundation` */
  name: string
  /** SHA-256 of the file with LF line ends, hexadecimal */
  checksum: string
  applied_at: TimestampWithDefault
}

// --- identity ---------------------------------------------------------------------------------------------------

export interface UserTable {
  /** `usr_<ULID>` */
  id: string
  name: string
  /** normalised, see `platform/identity/email-address.ts` */
  email: string
  email_verified: Generated<boolean>
  image: string | null
  /** the database makes the first account `admin` */
  role: Generated<'admin' | 'user'>
  banned: Generated<boolean>
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

/** At most one row: who became the administrator by being first. */
export interface AdministratorClaimTable {
  singleton: Generated<true>
  user_id: string
  claimed_at: TimestampWithDefault
}

export interface SessionTable {
  /** `ses_<ULID>` */
  id: string
  user_id: string
  /** what the cookie carries, beside its signature */
  token: string
  /** absolute end */
  expires_at: Timestamp
  /** the idle end is counted from here; written at most once a minute */
  last_active_at: TimestampWithDefault
  ip_address: string | null
  user_agent: string | null
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

/** A way to sign in; `provider_id` `credential`: by `password`, a scrypt hash. */
export interface AccountTable {
  id: string
  user_id: string
  account_id: string
  provider_id: string
  password: string | null
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: Timestamp | null
  refresh_token_expires_at: Timestamp | null
  scope: string | null
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

/** One-time values of the sign-in library. */
export interface VerificationTable {
  id: string
  identifier: string
  value: string
  expires_at: Timestamp
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

/** A key pair that signs access tokens; see `platform/identity/signing-key.ts`. */
export interface JwksTable {
  /** the `kid` */
  id: string
  /** JWK, as `JSON.stringify` */
  public_key: ColumnType<unknown, string, never>
  encrypted_private_key: Buffer
  created_at: Timestamp
  expires_at: Timestamp
}

export interface ApiKeyTable {
  /** `key_<ULID>` */
  id: string
  /** the part of the key that is not secret */
  public_id: string
  user_id: string
  name: string
  /** SHA-256 of the whole key */
  key_hash: Buffer
  scopes: string[]
  /** `null`: every workspace of the user */
  workspace_ids: string[] | null
  created_at: Timestamp
  expires_at: Timestamp
  /** written at most once a minute */
  last_used_at: Timestamp | null
  revoked_at: Timestamp | null
}

// --- workspaces -------------------------------------------------------------------------------------------------

export interface WorkspaceTable {
  /** `ws_<ULID>` */
  id: string
  name: string
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
  /** starts of its sandbox so far */
  session_epoch: Generated<number>
  /** id of the data directory that holds its files; `null`: none was made */
  directory_node: string | null
}

export interface WorkspaceMemberTable {
  workspace_id: string
  user_id: string
  role: 'viewer' | 'editor' | 'owner'
  created_at: TimestampWithDefault
}

// --- retrieval --------------------------------------------------------------------------------------------------

/** One row a workspace that has ever been indexed. */
export interface RetrievalIndexTable {
  workspace_id: string
  /** grows with every change of documents, chunks or vectors */
  version: Generated<number>
  updated_at: TimestampWithDefault
}

/** A text, once a workspace and language, whatever the number of its paths. */
export interface ContentTable {
  id: Generated<number>
  workspace_id: string
  /** of the file's bytes, hexadecimal */
  content_sha256: string
  /** `''`: unknown */
  language: string
  /** version of the rules it was cut by; 0: kept but not indexed */
  indexer: number
  text: string
}

export interface DocumentTable {
  /** `doc_<ULID>` */
  id: string
  workspace_id: string
  path: string
  /** hexadecimal */
  content_sha256: string
  bytes: number
  language: string | null
  status: 'indexed' | 'skipped' | 'failed'
  /** set unless `indexed`: a SkipReason, or the sentence of a failure */
  reason: string | null
  /** `null`: no text is kept */
  content_id: number | null
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

export interface ChunkTable {
  id: Generated<number>
  workspace_id: string
  content_id: number
  /** from 0, in the order of the text */
  ordinal: number
  /** one-based, both included */
  start_line: number
  end_line: number
  /** from 0, in characters as `substr` counts them */
  start_character: number
  characters: number
  header: string
  symbols: string[]
  /** see features/retrieval/chunk-terms.ts */
  terms: Buffer
}

export interface ChunkVectorTable {
  chunk_id: number
  /** id of the embedder */
  model: string
  dimensions: number
  workspace_id: string
  /** of `retrieval_indexes` when written */
  version: number
  /** `[0.1,…]`, unit length */
  embedding: string
}

// --- jobs -------------------------------------------------------------------------------------------------------

/** Long work; see `platform/jobs/job-store.ts`, which alone writes it. */
export interface JobTable {
  /** `job_<ULID>` */
  id: string
  workspace_id: string
  /** user id; `null`: the server itself */
  created_by: string | null
  kind: 'import' | 'reembed'
  state: Generated<'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'>
  /** what the handler of `kind` was asked, as `JSON.stringify` */
  input: ColumnType<unknown, string, never>
  /** id of the data directory that holds what the job reads; `null`: any node can run it */
  pinned_to: string | null
  phase: string
  done: Generated<number>
  total: number | null
  unit: 'files' | 'chunks'
  /** as `JSON.stringify` */
  report: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  error_code: string | null
  error_message: string | null
  /** fencing token: grows with every take-over */
  attempt: Generated<number>
  attempts_left: number
  run_after: TimestampWithDefault
  /** set while `running` */
  lease_until: Timestamp | null
  /** grows with every visible change */
  version: Generated<number>
  created_at: TimestampWithDefault
  started_at: Timestamp | null
  finished_at: Timestamp | null
}

// --- chats and runs ---------------------------------------------------------------------------------------------

export interface ChatTable {
  /** `chat_<ULID>` */
  id: string
  user_id: string
  workspace_id: string | null
  title: string
  model: string | null
  /** how many there are, which is the position of the last */
  messages: Generated<number>
  created_at: TimestampWithDefault
  updated_at: TimestampWithDefault
}

export interface ChatMessageTable {
  chat_id: string
  /** from 1, without gaps */
  position: number
  /** `msg_<ULID>` */
  id: string
  role: 'user' | 'assistant'
  content: string
  /** an `AnswerFacts`, as `JSON.stringify` */
  answer: ColumnType<unknown, string | null, string | null>
  /** an array of `AnswerStep`, as JSON */
  steps: string | null
  created_at: TimestampWithDefault
}

/** See features/chat/run-store.ts, which alone writes it. */
export interface RunTable {
  /** `run_<ULID>` */
  id: string
  user_id: string
  chat_id: string | null
  workspace_id: string | null
  state: 'running' | 'finished' | 'failed' | 'stopped' | 'lost'
  last_event: Generated<number>
  stop_requested: Generated<boolean>
  /** set while `running` */
  lease_until: Timestamp | null
  created_at: TimestampWithDefault
  finished_at: Timestamp | null
}

export interface RunEventTable {
  run_id: string
  first_event: number
  last_event: number
  /** a JSON array */
  events: string
}

// --- ledger -----------------------------------------------------------------------------------------------------

/** One call of a model that has ended; see features/gateway/ledger-store.ts, which alone writes it. */
export interface UsageEntryTable {
  id: Generated<number>
  created_at: TimestampWithDefault
  run_id: string
  user_id: string
  workspace_id: string | null
  api_key_id: string | null
  model: string
  provider: string
  finish_reason: string
  input_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  output_tokens: number
  reasoning_tokens: number
  estimated: boolean
  /** USD, a decimal string; `null`: not known */
  cost: string | null
}

export interface BudgetTable {
  /** `bud_<ULID>` */
  id: string
  subject: 'everyone' | 'user' | 'workspace' | 'api-key'
  /** `''` for everyone */
  subject_id: string
  period: 'day' | 'month' | 'total'
  cap: string
  /** of the period that began at `period_start` */
  spent: Generated<string>
  reserved: Generated<string>
  period_start: Timestamp
  created_at: TimestampWithDefault
}

export interface BudgetReservationTable {
  call_id: string
  budget_id: string
  amount: string
  expires_at: Timestamp
}

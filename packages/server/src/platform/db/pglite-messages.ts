/** What the worker is started with. */
export interface PgliteWorkerData {
  /** the PostgreSQL data directory; initialised when it does not exist */
  clusterDirectory: string
  /** whether what is acknowledged outlasts a power cut */
  durable: boolean
}

/** Main thread to worker. */
export type PgliteRequest =
  /** wire protocol messages that end with one the server answers with ReadyForQuery; `startup` begins a session */
  { type: 'messages'; kind: 'startup' | 'query'; bytes: Uint8Array<ArrayBuffer> } | { type: 'close' }

/** Worker to main thread. Answers come in the order of the requests. */
export type PgliteResponse =
  | { type: 'opened' }
  | { type: 'answer'; bytes: Uint8Array<ArrayBuffer> }
  /** the engine cannot go on: it did not open, or it ended in the middle of a request */
  | { type: 'broken'; reason: string }
  | { type: 'closed' }

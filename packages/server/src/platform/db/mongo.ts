import type { Db } from 'mongodb'
import { AppError } from '../../base/app-error.ts'

/** A MongoDB database that this installation uses beside its own. */
export interface Mongo extends AsyncDisposable {
  /** Runs `work`; what the server cannot do now is SERVICE_UNAVAILABLE or TIMEOUT, with the original as cause. */
  use<Result>(work: (database: Db) => Promise<Result>): Promise<Result>
}

/** Where the address names no database. */
const usualName = 'atelier'

const limits = {
  maxPoolSize: 20,
  /** milliseconds a caller waits for a connection */
  waitQueueTimeoutMS: 2_000,
  /** milliseconds until a server that does not answer counts as gone */
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  /** milliseconds until a silent connection counts as gone, and its operation with it */
  socketTimeoutMS: 30_000,
}

/** Opens a database. Throws SERVICE_UNAVAILABLE when the server does not answer. */
export async function openMongo(uri: string): Promise<Mongo> {
  // Some 10 MB that only who has it needs.
  const { MongoClient } = await import('mongodb')
  const client = new MongoClient(uri, { appName: 'atelier', ignoreUndefined: true, ...limits })
  const database = client.db(nameIn(uri) ?? usualName)

  async function use<Result>(work: (from: Db) => Promise<Result>): Promise<Result> {
    try {
      return await work(database)
    } catch (error) {
      throw toMongoError(error)
    }
  }

  try {
    await use((from) => from.command({ ping: 1 }))
  } catch (error) {
    await client.close()
    throw error
  }
  return { use, [Symbol.asyncDispose]: () => client.close() }
}

/** The database that an address names: what stands between the hosts and the options. */
function nameIn(uri: string): string | undefined {
  const [, name] = /^[^:]+:\/\/[^/]+\/([^?]+)/.exec(uri) ?? []
  return name === undefined ? undefined : decodeURIComponent(name)
}

/** Names of the driver's errors when it cannot reach the server, or not in time. */
const unavailable =
  /^Mongo(ServerSelection|Network|NetworkTimeout|WaitQueueTimeout|PoolCleared|PoolClosed|TopologyClosed|NotConnected|ClientClosed)\w*Error$/

function toMongoError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  if (unavailable.test(error.name))
    return new AppError('SERVICE_UNAVAILABLE', 'MongoDB is not available', { cause: error })
  return codeOf(error) === maxTimeExpired
    ? new AppError('TIMEOUT', 'MongoDB took too long to answer', { cause: error })
    : error
}

const maxTimeExpired = 50
const duplicateKey = 11_000

/** Whether a write collided with a unique index. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === duplicateKey
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

/** What the database says to its owner; a pino logger fits. */
export interface DatabaseLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** For callers that gave no logger. */
export const silentLogger: DatabaseLogger = { info() {}, warn() {}, error() {} }

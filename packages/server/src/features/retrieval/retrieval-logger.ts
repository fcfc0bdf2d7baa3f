/** What retrieval says to its owner; a pino logger fits. */
export interface RetrievalLogger {
  warn(fields: object, message: string): void
}

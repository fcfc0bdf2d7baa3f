export { ApiError, type ApiErrorFacts, type ClientErrorCode } from './api-error.ts'
export {
  type CallOptions,
  type Client,
  type ClientEvent,
  type ClientOptions,
  createClient,
  type EventStream,
  type UploadOptions,
} from './client.ts'
export { readEventStream, type ServerSentEvent } from './event-stream.ts'
export {
  connectTerminal,
  type TerminalConnection,
  type TerminalConnectionOptions,
  type TerminalDisplay,
  type TerminalStatus,
} from './terminal-connection.ts'
export { type OpenTerminalSocket, openWebSocket, type TerminalSocket } from './terminal-socket.ts'
export type { UploadProgress } from './upload.ts'

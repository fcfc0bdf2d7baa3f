/**
 * Questions as a person new to a code base asks them, with the line that answers each: the first line of `path` that contains
 * `anchor`, or any line where it is `*`. `tuning` may be looked at while weights are chosen; `heldOut`, from other packages, only measures.
 */
export interface WrittenQuestion {
  question: string
  /** path of a file, packages first */
  path: string
  anchor: string
}

const lines = (table: string): WrittenQuestion[] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [question = '', path = '', anchor = ''] = line.split(' | ').map((cell) => cell.trim())
      return { question, path, anchor }
    })

export const tuningPackages = ['mongodb', 'bson', 'ai', '@ai-sdk/provider-utils', '@better-auth/core']

export const tuning: readonly WrittenQuestion[] = lines(`
how does a caller get a connection from the pool? | mongodb/src/cmap/connection_pool.ts | async checkOut(
what decides whether a failed command is tried again? | mongodb/src/operations/execute_operation.ts | function canRetry(
where are server tags compared with the wanted tags? | mongodb/src/sdam/server_selection.ts | function tagSetMatch(
how are results of several batches put together? | mongodb/src/bulk/common.ts | export function mergeBatchResults(
where is the password hashed for SCRAM login? | mongodb/src/cmap/auth/scram.ts | function passwordDigest(
how are sessions reused? | mongodb/src/sessions.ts | acquire(): ServerSession
where is the connection URI turned into options? | mongodb/src/connection_string.ts | export function parseOptions(
how are hosts found through DNS? | mongodb/src/connection_string.ts | export async function resolveSRVRecord(
how is the average round trip time kept? | mongodb/src/sdam/monitor.ts | class RTTSampler
how is a new object id made? | bson/src/objectid.ts | static generate(
where does the counter of ids come from? | bson/src/objectid.ts | private static getInc(
how is a document written as bytes? | bson/src/parser/serializer.ts | export function serializeInto(
where is a decimal parsed from text? | bson/src/decimal128.ts | static fromString(
how long do we wait between attempts? | ai/src/util/retry-with-exponential-backoff.ts | function getRetryDelayInMs(
how is broken JSON completed? | ai/src/util/fix-json.ts | export function fixJson(
how similar are two embeddings? | ai/src/util/cosine-similarity.ts | export function cosineSimilarity(
how are several cancellation signals combined? | ai/src/util/merge-abort-signals.ts | export function mergeAbortSignals(
which parts of old messages are dropped? | ai/src/generate-text/prune-messages.ts | export function pruneMessages(
how is text sent out word by word? | ai/src/generate-text/smooth-stream.ts | export function smoothStream
how does it stop after a number of steps? | ai/src/generate-text/stop-condition.ts | export function isStepCount
where is the type of a file guessed from its first bytes? | @ai-sdk/provider-utils/src/detect-media-type.ts | function detectMediaTypeBySignatures
which URLs may be downloaded? | @ai-sdk/provider-utils/src/validate-download-url.ts | export function validateDownloadUrl(
where does the key come from when it is not passed? | @ai-sdk/provider-utils/src/load-api-key.ts | export function loadApiKey(
how is prototype pollution prevented when JSON is parsed? | @ai-sdk/provider-utils/src/secure-json-parse.ts | export function secureJsonParse(
how is a response kept from growing too large? | @ai-sdk/provider-utils/src/read-response-with-size-limit.ts | export async function readResponseWithSizeLimit(
how many tasks run at once? | @better-auth/core/src/utils/async.ts | export async function mapConcurrent
`)

export const heldOutPackages = [
  'undici',
  'fastify',
  'ws',
  'zod',
  '@grpc/grpc-js',
  '@xterm/xterm',
  'kysely',
  '@tanstack/query-core',
  'pino',
]

export const heldOut: readonly WrittenQuestion[] = lines(`
where is the retry delay computed? | undici/lib/handler/retry-handler.js | const retryTimeout =
how is the Retry-After header read? | undici/lib/handler/retry-handler.js | function calculateRetryAfterHeader
which headers are removed when a redirect goes to another origin? | undici/lib/handler/redirect-handler.js | function shouldRemoveHeader
how does the pool choose a client for a request? | undici/lib/dispatcher/pool.js | [kGetDispatcher] () {
how does round robin pick the next connection? | undici/lib/dispatcher/round-robin-pool.js | [kGetDispatcher] () {
where is a Set-Cookie header parsed? | undici/lib/web/cookies/parse.js | function parseSetCookie
how is the list of hosts that bypass the proxy parsed? | undici/lib/dispatcher/env-http-proxy-agent.js | #parseNoProxy () {
how does a mocked request match headers? | undici/lib/mock/mock-utils.js | function matchHeaders
when does a cached response become stale? | undici/lib/handler/cache-handler.js | function determineStaleAt
how is the Vary header handled in the cache? | undici/lib/util/cache.js | function parseVaryHeader
how does the queue grow when it is full? | undici/lib/dispatcher/fixed-queue.js | module.exports = class FixedQueue
where are DNS lookups cached? | undici/lib/interceptor/dns.js | class DNSInstance
which docs explain how to mock requests? | undici/docs/docs/best-practices/mocking-request.md | *
how are websocket frames masked? | ws/lib/buffer-util.js | function _mask
which close codes are allowed? | ws/lib/validation.js | function isValidStatusCode
how does the server finish the upgrade? | ws/lib/websocket-server.js | completeUpgrade(extensions, key
how does the server negotiate compression? | ws/lib/permessage-deflate.js | acceptAsServer(offers) {
where is UTF-8 checked? | ws/lib/validation.js | function _isValidUTF8
how is a request body limited in size? | fastify/lib/content-type-parser.js | function rawBody
how is a content type parser removed? | fastify/lib/content-type-parser.js | function removeContentTypeParser
how are route prefixes joined? | fastify/lib/plugin-override.js | function buildRoutePrefix
what does the documentation say about decorators? | fastify/docs/Reference/Decorators.md | *
how is the request id generated? | fastify/lib/req-id-gen-factory.js | function reqIdGenFactory
where is the error handler of a route called? | fastify/lib/error-handler.js | function handleError
how do hooks run one after another? | fastify/lib/hooks.js | function hookRunnerGenerator
what happens when no route is found? | fastify/lib/four-oh-four.js | function basic404
where is a JSON web token checked? | zod/src/v4/core/schemas.ts | export function isValidJWT
how is a credit card or base64 string validated? | zod/src/v4/core/schemas.ts | export function isValidBase64(
how are two object values of an intersection merged? | zod/src/v4/core/schemas.ts | export function mergeValues
how is the remainder of decimal numbers computed? | zod/src/v4/core/util.ts | export function floatSafeRemainder
how is an error turned into a readable string? | zod/src/v4/core/errors.ts | export function prettifyError
how is a text made into a slug? | zod/src/v4/core/util.ts | export function slugify
how long does a call wait before it is retried? | @grpc/grpc-js/src/retrying-call.ts | private getNextRetryBackoffMs
how is jitter added to the backoff? | @grpc/grpc-js/src/backoff-timeout.ts | runOnce() {
how are host and port separated? | @grpc/grpc-js/src/uri-parser.ts | export function splitHostPort
how does it connect through an HTTP proxy? | @grpc/grpc-js/src/http_proxy.ts | export function getProxiedConnection
how many milliseconds are left until the deadline? | @grpc/grpc-js/src/deadline.ts | export function getRelativeTimeout
which characters may a metadata key have? | @grpc/grpc-js/src/metadata.ts | function isLegalKey
when are outliers ejected? | @grpc/grpc-js/src/load-balancer-outlier-detection.ts | private runSuccessRateCheck
how are lines wrapped again when the terminal gets wider? | @xterm/xterm/src/common/buffer/BufferReflow.ts | export function reflowLargerGetLinesToRemove
how is pasted text bracketed? | @xterm/xterm/src/browser/Clipboard.ts | export function bracketTextForPaste
how wide is a character in cells? | @xterm/xterm/src/common/services/UnicodeService.ts | public getStringCellWidth
how is the contrast of text on a background kept readable? | @xterm/xterm/src/common/Color.ts | export function ensureContrastRatio(bgRgba
which word is selected on a double click? | @xterm/xterm/src/browser/services/SelectionService.ts | private _selectWordAtCursor
how is written data buffered so that the page stays responsive? | @xterm/xterm/src/common/input/WriteBuffer.ts | protected _innerWrite
how are identifiers escaped in SQL? | kysely/dist/query-compiler/default-query-compiler.js | sanitizeIdentifier(identifier) {
how are migrations locked against running twice? | kysely/dist/migration/migrator.js | async #runMigrations(
how are camel case names converted to snake case? | kysely/dist/plugin/camel-case/camel-case.js | export function createSnakeCaseMapper
how is a query key hashed? | @tanstack/query-core/src/utils.ts | export function hashKey
how are unchanged parts of the data kept identical? | @tanstack/query-core/src/utils.ts | export function replaceEqualDeep(a: any
how are secrets removed from logs? | pino/lib/redaction.js | function redaction
`)

export { type TarEntry, tarGzOf, tarOf, type ZipEntry, zipOf } from './archives.ts'
export { launchBrowser } from './browser.ts'
export {
  createDatabaseSite,
  type DatabaseEngine,
  type DatabaseSite,
  databaseEngines,
  openTestDatabase,
  type SiteContent,
  type TestDatabaseOptions,
  templateDirectory,
} from './database.ts'
export { describeOnEveryDatabase } from './describe-database.ts'
export {
  type MockProviders,
  type MockReply,
  mockKey,
  type ProviderFault,
  type ProviderRequest,
  startMockProviders,
} from './mock-providers.ts'
export {
  type MongoServer,
  type MongoUnavailable,
  mongoUnavailable,
  startMongoServer,
} from './mongo-server.ts'
export { type Person, signUpPerson } from './person.ts'
export { type PostgresServer, type PostgresUnavailable, startPostgresServer } from './postgres-server.ts'
export { startTestServer, type TestServer } from './server.ts'

/** What other packages may know of the database layer; inside this one, import the file itself. */
export { DataDirectoryError } from './data-directory-error.ts'
export { type Database, type DatabaseOptions, openDatabase, type PoolStatistics } from './database.ts'
export { migrationsDigest, migrationsDirectory, readMigrations } from './migrations.ts'
export { MigrationError } from './migrator.ts'
export { ensurePgliteTemplate, provideCluster } from './pglite-database.ts'
export type { Tables } from './tables.ts'

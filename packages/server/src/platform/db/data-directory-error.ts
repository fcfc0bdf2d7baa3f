/** The embedded database's directory cannot be used; the message names it and says what to do. */
export class DataDirectoryError extends Error {
  override name = 'DataDirectoryError'
}

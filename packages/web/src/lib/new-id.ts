/** Random and unique in the page; `crypto.randomUUID` needs TLS, which a home server may not have. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/**
 * The one spelling under which an address is stored and looked up: compatibility-normalised (NFKC), lower case.
 * Strictly, the part before `@` may be case-sensitive; no mail provider of any size treats it so, and two accounts for
 * one mailbox would be a way to take over the other. Takes what the contract let through, so it never fails.
 */
export function normaliseEmail(address: string): string {
  return address.normalize('NFKC').toLowerCase()
}

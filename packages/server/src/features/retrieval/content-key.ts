/** A content as the index knows it: the same text is cut differently in another language. */
export function contentKey(content: { contentSha256: string; language: string | null }): string {
  return `${content.contentSha256} ${content.language ?? ''}`
}

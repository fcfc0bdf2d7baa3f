/** How long a browser may take to begin with a download, in milliseconds. */
const downloadMs = 60_000

/** Lets the browser save a text that the page has made as a file. */
export function saveFile(name: string, mediaType: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: mediaType }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), downloadMs)
}

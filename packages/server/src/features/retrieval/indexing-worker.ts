import { type MessagePort, parentPort } from 'node:worker_threads'
import { packTerms, termsOfChunk } from './chunk-terms.ts'
import { chunkText } from './chunk-text.ts'
import { createGrammars, type Grammars } from './grammars.ts'
import type { IndexedChunk, IndexingRequest, IndexingResponse } from './indexing-messages.ts'
import { skipByText } from './skip-reason.ts'

if (parentPort === null) throw new Error('the indexing worker runs in a worker thread only')
serve(parentPort, createGrammars())

/** Answers requests one after another, in their order. */
function serve(port: MessagePort, grammars: Grammars): void {
  let turn = Promise.resolve()
  port.on('message', (request: IndexingRequest) => {
    turn = turn.then(async () => {
      port.postMessage(await answer(request, grammars))
    })
  })
}

async function answer(request: IndexingRequest, grammars: Grammars): Promise<IndexingResponse> {
  const { id, text, language } = request
  try {
    const reason = skipByText(text)
    if (reason !== null) return { type: 'skipped', id, reason }
    const { chunks, parser } = await chunkText({ text, language }, grammars)
    const indexed: IndexedChunk[] = []
    let character = 0
    for (const { startLine, endLine, content, header, symbols } of chunks) {
      const characters = countCharacters(content)
      const terms = packTerms(termsOfChunk({ content, header, symbols }))
      const place = { startLine, endLine, startCharacter: character, characters, length: content.length }
      indexed.push({ ...place, header, symbols, terms })
      character += characters
    }
    return { type: 'indexed', id, chunks: indexed, thread: parser }
  } catch (error) {
    return { type: 'failed', id, message: error instanceof Error ? error.message : String(error) }
  }
}

/** PostgreSQL counts code points, JavaScript UTF-16 units. */
function countCharacters(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit < 0xdc00) pairs += 1
  }
  return text.length - pairs
}

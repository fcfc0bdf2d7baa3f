/** What a provider's documentation says about an embedding model. */
export interface KnownEmbeddingModel {
  /** length of its vectors unless another is asked for */
  dimensions: number
  /** true: the API takes the wished length (Matryoshka embeddings) */
  adjustable: boolean
  /** texts in one request */
  maxBatch: number
  /** tokens of one text; longer ones are cut by us, at the same ratio as token estimates */
  maxInputTokens: number
  /** USD per million tokens; null: not known */
  price: string | null
}

/**
 * By `provider/model`. Limits come from the providers' API references (OpenAI: 2,048 texts, 8,192 tokens; Google: 100
 * texts, 2,048 tokens; Mistral: 8,192 tokens; Voyage: 1,000 texts, 32,000 tokens) and from the model cards on Ollama.
 * Batches stay far below a provider's limit where the limit is on the tokens of the whole request. Prices are the
 * standard ones, without batch discounts, of the providers' price lists: platform.openai.com/docs/pricing,
 * ai.google.dev/gemini-api/docs/pricing, mistral.ai/pricing and docs.voyageai.com/docs/pricing; Ollama runs on hardware
 * of one's own.
 */
export const knownEmbeddingModels: Readonly<Record<string, KnownEmbeddingModel>> = {
  'openai/text-embedding-3-small': {
    dimensions: 1536,
    adjustable: true,
    maxBatch: 128,
    maxInputTokens: 8191,
    price: '0.02',
  },
  'openai/text-embedding-3-large': {
    dimensions: 3072,
    adjustable: true,
    maxBatch: 128,
    maxInputTokens: 8191,
    price: '0.13',
  },
  'google/gemini-embedding-001': {
    dimensions: 3072,
    adjustable: true,
    maxBatch: 100,
    maxInputTokens: 2048,
    price: '0.15',
  },
  'mistral/mistral-embed': {
    dimensions: 1024,
    adjustable: false,
    maxBatch: 32,
    maxInputTokens: 8192,
    price: '0.1',
  },
  'mistral/codestral-embed': {
    dimensions: 1536,
    adjustable: true,
    maxBatch: 32,
    maxInputTokens: 8192,
    price: '0.15',
  },
  'voyage/voyage-code-3': {
    dimensions: 1024,
    adjustable: true,
    maxBatch: 128,
    maxInputTokens: 32_000,
    price: '0.18',
  },
  'voyage/voyage-3.5': {
    dimensions: 1024,
    adjustable: true,
    maxBatch: 128,
    maxInputTokens: 32_000,
    price: '0.06',
  },
  'ollama/nomic-embed-text': {
    dimensions: 768,
    adjustable: false,
    maxBatch: 32,
    maxInputTokens: 2048,
    price: '0',
  },
  'ollama/mxbai-embed-large': {
    dimensions: 1024,
    adjustable: false,
    maxBatch: 32,
    maxInputTokens: 512,
    price: '0',
  },
  'ollama/all-minilm': { dimensions: 384, adjustable: false, maxBatch: 32, maxInputTokens: 256, price: '0' },
  'ollama/bge-m3': { dimensions: 1024, adjustable: false, maxBatch: 32, maxInputTokens: 8192, price: '0' },
}

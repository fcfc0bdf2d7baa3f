import { describe, expect, it } from 'vitest'
import { ModelsEnvironment } from './models-environment.ts'
import { connectionTo, hostedProviders } from './providers.ts'

const openai = hostedProviders.find((provider) => provider.id === 'openai')
const reach = (environment: Record<string, string>) =>
  openai && connectionTo(openai, ModelsEnvironment.parse(environment), fetch)

describe('configuration of models', () => {
  it('describes every variable', () => {
    for (const [name, schema] of Object.entries(ModelsEnvironment.shape)) {
      expect(schema.description, name).toBeTruthy()
    }
  })

  it('[MOD8] reaches a provider only with a key of the configuration, at its own address unless told', () => {
    process.env.OPENAI_BASE_URL = 'http://not-this-one'
    try {
      expect(reach({})).toBeUndefined()
      expect(reach({ OPENAI_API_KEY: 'k' })?.baseURL).toBe('https://api.openai.com/v1')
    } finally {
      delete process.env.OPENAI_BASE_URL
    }
  })

  it('[MOD8] completes an address without a path, and leaves one with a path alone', () => {
    const address = (OPENAI_BASE_URL: string) => reach({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL })?.baseURL
    expect(address('http://proxy:4000')).toBe('http://proxy:4000/v1')
    expect(address('http://proxy:4000/openai/')).toBe('http://proxy:4000/openai')
  })

  it('[MOD9] OpenAI speaks responses at its own address and chat completions at another', async () => {
    const dialect = async (environment: Record<string, string>) => {
      const parsed = ModelsEnvironment.parse({ OPENAI_API_KEY: 'k', ...environment })
      const connection = openai && connectionTo(openai, parsed, fetch)
      return connection && (await openai.load(connection, 'gpt-6-luna', parsed)).provider
    }
    expect(await dialect({})).toBe('openai.responses')
    expect(await dialect({ OPENAI_BASE_URL: 'https://api.openai.com/v1/' })).toBe('openai.responses')
    expect(await dialect({ OPENAI_BASE_URL: 'http://proxy:4000' })).toBe('openai.chat')
    expect(await dialect({ OPENAI_BASE_URL: 'http://proxy:4000', OPENAI_API: 'responses' })).toBe(
      'openai.responses',
    )
    expect(await dialect({ OPENAI_API: 'chat' })).toBe('openai.chat')
  })

  it('[MOD23] wants the length of vectors that nobody knows', () => {
    const check = (environment: Record<string, string>) =>
      ModelsEnvironment.safeParse(environment).error?.issues.map((issue) => issue.path.join('.'))
    expect(check({ EMBEDDING_MODEL: 'openai/text-embedding-3-small' })).toBeUndefined()
    expect(check({ EMBEDDING_MODEL: 'local/hashed' })).toBeUndefined()
    expect(check({ EMBEDDING_MODEL: 'ollama/mine' })).toEqual(['EMBEDDING_DIMENSIONS'])
    expect(check({ EMBEDDING_MODEL: 'ollama/mine', EMBEDDING_DIMENSIONS: '256' })).toBeUndefined()
    expect(check({ EMBEDDING_MODEL: 'mine' })).toContain('EMBEDDING_MODEL')
  })
})

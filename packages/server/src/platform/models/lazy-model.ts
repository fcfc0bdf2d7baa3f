import type { LanguageModelV4 } from '@ai-sdk/provider'

/** A model whose package is loaded by its first call: most servers use one or two providers of all there are. */
export function lazyModel(
  provider: string,
  modelId: string,
  load: () => Promise<LanguageModelV4>,
): LanguageModelV4 {
  let loaded: Promise<LanguageModelV4> | undefined
  const model = () => {
    loaded ??= load()
    return loaded
  }
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    get supportedUrls() {
      return model().then((actual) => actual.supportedUrls)
    },
    doGenerate: async (call) => (await model()).doGenerate(call),
    doStream: async (call) => (await model()).doStream(call),
  }
}

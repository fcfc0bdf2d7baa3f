import type { ProviderHealth } from '@atelier/contract'
import { CopyButton } from '../ui/copy-button.tsx'
import styles from './providers.module.css'

/** How to connect each provider that is not, and servers of one's own. */
export function ConnectProvider({ providers }: { providers: readonly ProviderHealth[] }) {
  const hosted = providers.flatMap(({ name, keyVariable }) =>
    keyVariable === null ? [] : [{ name, keyVariable }],
  )
  return (
    <div className={styles.connect}>
      {hosted.length > 0 && (
        <>
          <p>
            Put a provider’s key into the server’s environment, or into the file <code>.env</code> beside it,
            and start the server again. Several keys, with commas between them, are used in turn.
          </p>
          <ul>
            {hosted.map(({ name, keyVariable }) => (
              <li key={keyVariable}>
                <span>{name}</span>
                <code>{keyVariable}=…</code>
                <CopyButton label={`Copy ${keyVariable}`} text={`${keyVariable}=`} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        To keep everything on your own machines, start Ollama, LM Studio or a llama.cpp server beside this
        one: it is found on its usual port. Any other server that speaks OpenAI’s chat completions is named by{' '}
        <code>OPENAI_COMPATIBLE_BASE_URL</code>.
      </p>
    </div>
  )
}

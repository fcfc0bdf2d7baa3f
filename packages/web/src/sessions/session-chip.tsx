import { Link } from 'wouter'
import { stateWords } from './session-words.ts'
import styles from './sessions.module.css'
import { useWorkspaceStatus } from './use-workspace-status.ts'

/** The state of the sandbox in a word, and the way to its panel. */
export function SessionChip({ workspaceId }: { workspaceId: string }) {
  const { data } = useWorkspaceStatus(workspaceId)
  if (data === undefined) return null
  return (
    <Link
      href={`/w/${workspaceId}/sandbox`}
      className={styles.chip}
      title={`${stateWords[data.state]}: ${data.reason}`}
    >
      <span className={styles.dot} data-state={data.state} />
      <span className="visually-hidden">Sandbox: </span>
      {stateWords[data.state]}
    </Link>
  )
}

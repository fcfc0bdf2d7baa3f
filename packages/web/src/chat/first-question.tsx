import { History, MessageSquareText } from 'lucide-react'
import { Link } from 'wouter'
import { useWorkspaceFiles } from '../files/file-tree-context.tsx'
import { formatAgo } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'
import { useIde } from '../shell/use-ide.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/feedback.tsx'
import styles from './chat-history.module.css'
import { useRecentChats } from './chat-queries.ts'

const firstQuestions = ['What does this project do?', 'Where does it start?', 'How are errors handled?']

interface FirstQuestionProps {
  onAsk: (question: string) => void
  onHistory: () => void
}

/** A chat that begins: what to ask, and the chats before it. */
export function FirstQuestion({ onAsk, onHistory }: FirstQuestionProps) {
  const { tree } = useWorkspaceFiles()
  if (tree.files.length === 0) {
    return (
      <EmptyState icon={MessageSquareText} title="Ask about your code">
        <p>Import a project first: answers come from its files and point at their lines.</p>
      </EmptyState>
    )
  }
  return (
    <>
      <EmptyState
        icon={MessageSquareText}
        title="Ask about your code"
        actions={firstQuestions.map((question) => (
          <Button key={question} onClick={() => onAsk(question)}>
            {question}
          </Button>
        ))}
      >
        <p>Answers come from the files of this workspace and point at their lines.</p>
      </EmptyState>
      <RecentChats onHistory={onHistory} />
    </>
  )
}

function RecentChats({ onHistory }: { onHistory: () => void }) {
  const { location, href } = useIde()
  const now = useNow(60_000)
  const recent = useRecentChats(location.workspaceId).data
  if (recent === undefined || recent.items.length === 0) return null
  return (
    <section className={styles.recent} aria-label="Recent chats">
      <h3>Go on with</h3>
      <ul>
        {recent.items.map(({ id, title, updatedAt }) => (
          <li key={id}>
            <Link href={href({ chat: id })}>
              <span>{title}</span>
              <small>{formatAgo(updatedAt, now)}</small>
            </Link>
          </li>
        ))}
      </ul>
      {recent.nextCursor !== null && (
        <Button variant="quiet" icon={History} onClick={onHistory}>
          All chats
        </Button>
      )}
    </section>
  )
}

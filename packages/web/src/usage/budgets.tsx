import { type Budget, deleteBudget } from '@atelier/contract'
import { useMutation } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../lib/format.ts'
import { useUser, useWorkspaces } from '../lib/queries.ts'
import { useServices } from '../lib/services.tsx'
import { Section } from '../shell/page.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { errorLine } from '../ui/describe-error.ts'
import { SetBudget } from './set-budget.tsx'
import styles from './usage.module.css'

interface BudgetsProps {
  budgets: readonly Budget[]
  /** all budgets, which may be changed; else those that bind the person */
  everybody: boolean
  userIds: readonly string[]
}

/** What may be spent, what is, and what calls under way may still cost. */
export function Budgets({ budgets, everybody, userIds }: BudgetsProps) {
  const [setting, setSetting] = useState(false)
  if (budgets.length === 0 && !everybody) return null
  return (
    <Section title="Budgets" lead="Days and months are of UTC. A call that does not fit is refused.">
      {budgets.length > 0 && (
        <ul className={styles.budgets}>
          {budgets.map((budget) => (
            <BudgetRow key={budget.id} budget={budget} removable={everybody} />
          ))}
        </ul>
      )}
      {everybody && (
        <div>
          <Button icon={Plus} onClick={() => setSetting(true)}>
            New budget
          </Button>
        </div>
      )}
      {setting && <SetBudget userIds={userIds} onClose={() => setSetting(false)} />}
    </Section>
  )
}

const periods: Record<Budget['period'], string> = { day: 'a day', month: 'a month', total: 'in all' }

function BudgetRow({ budget, removable }: { budget: Budget; removable: boolean }) {
  const { period, cap, spent, reserved } = budget
  const name = `${useSubjectName(budget)}, ${periods[period]}`
  const share = Number(cap) === 0 ? 1 : Math.min(1, Number(spent) / Number(cap))
  return (
    <li>
      <strong>{name}</strong>
      <span>
        {formatMoney(spent)} of {formatMoney(cap)}
        {Number(reserved) > 0 && ` · ${formatMoney(reserved)} reserved`}
        {removable && <RemoveBudget budget={budget} name={name} />}
      </span>
      <meter
        className={styles.meter}
        aria-label={`Spent of the budget: ${name}`}
        min={0}
        max={1}
        low={0.75}
        high={0.95}
        optimum={0}
        value={share}
      />
    </li>
  )
}

function useSubjectName({ subject, subjectId }: Budget): string {
  const own = useUser().id
  const workspace = useWorkspaces().data?.items.find(({ id }) => id === subjectId)
  if (subject === 'everyone') return 'Everybody together'
  if (subject === 'user') return subjectId === own ? 'You' : `Person ${subjectId}`
  if (subject === 'workspace') return `Workspace ${workspace?.name ?? subjectId}`
  return `API key ${subjectId}`
}

/** Not asked for twice: a budget is set again in a moment, and nothing that was spent is forgotten. */
function RemoveBudget({ budget, name }: { budget: Budget; name: string }) {
  const { client, queryClient, toasts } = useServices()
  const removing = useMutation({
    mutationFn: () => client.call(deleteBudget, { params: { budgetId: budget.id } }),
    onSuccess: async () => {
      toasts.show({ text: `The budget is removed: ${name}` })
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
    },
    onError: (error) => toasts.show({ tone: 'error', text: errorLine(error) }),
  })
  return (
    <IconButton
      icon={Trash2}
      label={`Remove the budget: ${name}`}
      side="left"
      size={14}
      disabled={removing.isPending}
      onClick={() => removing.mutate()}
    />
  )
}

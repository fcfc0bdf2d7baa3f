import type { Budget } from '@atelier/contract'
import { formatMoney } from '../lib/format.ts'
import styles from './usage.module.css'

const subjects: Record<Budget['subject'], string> = {
  everyone: 'Everybody together',
  user: 'A person',
  workspace: 'A workspace',
  'api-key': 'An API key',
}

const periods: Record<Budget['period'], string> = { day: 'a day', month: 'a month', total: 'in all' }

/** What may be spent, what is, and what calls under way may still cost. */
export function Budgets({ budgets, own }: { budgets: readonly Budget[]; own: boolean }) {
  return (
    <ul className={styles.budgets}>
      {budgets.map((budget) => (
        <li key={budget.id}>
          <BudgetRow budget={budget} own={own} />
        </li>
      ))}
    </ul>
  )
}

function BudgetRow({ budget, own }: { budget: Budget; own: boolean }) {
  const { subject, subjectId, period, cap, spent, reserved } = budget
  const whose = own && subject === 'user' ? 'You' : subjects[subject]
  const share = Number(cap) === 0 ? 1 : Math.min(1, Number(spent) / Number(cap))
  return (
    <>
      <span className={styles.budgetName}>
        <strong>
          {whose}, {periods[period]}
        </strong>
        {!own && subjectId !== null && <code>{subjectId}</code>}
      </span>
      <span className={styles.budgetSpent}>
        {formatMoney(spent)} of {formatMoney(cap)}
        {Number(reserved) > 0 && ` · ${formatMoney(reserved)} reserved`}
      </span>
      <meter
        className={styles.meter}
        aria-label={`Spent of the budget: ${whose}, ${periods[period]}`}
        min={0}
        max={1}
        low={0.75}
        high={0.95}
        optimum={0}
        value={share}
      />
    </>
  )
}

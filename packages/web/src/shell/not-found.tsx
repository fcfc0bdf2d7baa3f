import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { EmptyState } from '../ui/feedback.tsx'
import { useTitle } from './page.tsx'

export function NotFound({ what = 'page' }: { what?: string }) {
  useTitle('Not found')
  return (
    <EmptyState icon={Compass} title={`No such ${what}`} actions={<Link href="/">All workspaces</Link>}>
      <p>It may have been deleted, or you do not belong to it.</p>
    </EmptyState>
  )
}

import { lazy, Suspense } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { RequireSession } from '../identity/require-session.tsx'
import { SignIn } from '../identity/sign-in.tsx'
import { SignUp } from '../identity/sign-up.tsx'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { Loading } from '../ui/feedback.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { WorkspaceList } from '../workspaces/workspace-list.tsx'
import { AppFrame } from './app-frame.tsx'
import { NotFound } from './not-found.tsx'

const Settings = lazy(() =>
  import('../settings/settings.tsx').then(({ Settings }) => ({ default: Settings })),
)
const WorkspaceShell = lazy(() =>
  import('./workspace-shell.tsx').then(({ WorkspaceShell }) => ({ default: WorkspaceShell })),
)

/** Every address of the page. */
export function App() {
  return (
    <ErrorBoundary>
      <Switch>
        <Route path="/sign-in">
          <SignIn />
        </Route>
        <Route path="/sign-up">
          <SignUp />
        </Route>
        <Route>
          <RequireSession>
            <Suspense fallback={<Loading label="Loading" />}>
              <SignedIn />
            </Suspense>
          </RequireSession>
        </Route>
      </Switch>
      <Toasts />
    </ErrorBoundary>
  )
}

function SignedIn() {
  return (
    <Switch>
      <Route path="/w/:workspaceId/*?">
        <WorkspaceShell />
      </Route>
      <Route path="/settings">
        <Redirect href="/settings/profile" replace />
      </Route>
      <Route path="/settings/:section">
        {({ section }) => (
          <AppFrame>
            <Settings section={section} />
          </AppFrame>
        )}
      </Route>
      <Route path="/">
        <AppFrame>
          <WorkspaceList />
        </AppFrame>
      </Route>
      <Route>
        <AppFrame>
          <NotFound />
        </AppFrame>
      </Route>
    </Switch>
  )
}

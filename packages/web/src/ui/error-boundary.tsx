import { Component, type ReactNode } from 'react'
import { ErrorNotice } from './error-notice.tsx'

/** Keeps a fault in one part from taking the page with it. A new `resetKey` tries again. */
export class ErrorBoundary extends Component<{ children: ReactNode; resetKey?: string }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidUpdate(previous: { resetKey?: string }) {
    if (previous.resetKey !== this.props.resetKey && this.state.error !== undefined)
      this.setState({ error: undefined })
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return (
      <div style={{ padding: 16 }}>
        <ErrorNotice error={this.state.error} onRetry={() => this.setState({ error: undefined })} />
      </div>
    )
  }
}

import { Component, type ReactNode } from 'react';
import { ErrorMessage } from './states.tsx';

/** Shows an error of a page without losing the rest of the window. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <ErrorMessage error={error} what="this page" again={() => location.reload()} />;
  }
}

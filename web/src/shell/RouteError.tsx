/** Placeholder for a page that failed. */
import { Button } from '@mantine/core';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { PartMissing } from './load-part.ts';

export function RouteError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  if (!(error instanceof PartMissing)) return <ErrorState error={error} retry={reset} />;
  return (
    <EmptyState
      title="This page could not be loaded"
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    >
      The service was updated since you opened the interface, or it cannot be reached at the moment.
    </EmptyState>
  );
}

/** The three states of what is being read: not there yet, failed, there. */
import { Loader, Overlay, Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isStatus } from '../api/errors.ts';
import { ErrorState } from './ErrorState.tsx';

export interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** Number of placeholder lines while it is read. */
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ query, lines = 6, children }: LoadedProps<Data>) {
  // Content that was deleted, or that the person may no longer see, disappears although it was shown before.
  const isGone = query.isError && isStatus(query.error, 403, 404, 410);
  if (query.data !== undefined && !isGone) return children(query.data);
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <Skeleton key={at} height={22} mt={10} width={`${96 - ((at * 17) % 38)}%`} />
      ))}
    </div>
  );
}

/** Placeholder until the code of a dialog is loaded. As a dialog, it has the keyboard: the keys of the page rest. */
export function DialogLoading() {
  return (
    <div role="dialog" aria-modal="true" aria-label="Loading">
      <Overlay fixed center backgroundOpacity={0.4} zIndex="var(--mantine-z-index-modal)">
        <Loader />
      </Overlay>
    </div>
  );
}

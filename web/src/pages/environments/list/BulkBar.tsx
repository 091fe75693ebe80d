/** Actions on the selected environments. */
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Environment } from '#contract/environments/shapes.ts';
import { DialogLoading } from '../../../ui/Loaded.tsx';
import { type BulkAction, bulkActions, bulkLooks } from './fitting.ts';
import classes from './list.module.css';

const BulkDialog = lazy(() => import('./BulkDialog.tsx'));

export interface BulkBarProps {
  readonly organizationId: string;
  readonly environments: readonly Environment[];
  readonly onClear: () => void;
}

export function BulkBar({ organizationId, environments, onClear }: BulkBarProps) {
  const [action, setAction] = useState<BulkAction>();
  if (environments.length === 0) return null;
  return (
    <section aria-label="Selected environments" className={classes.bulk}>
      <strong className="tabular">{environments.length} selected</strong>
      {bulkActions.map((each) => (
        <Button
          key={each}
          size="compact-sm"
          variant="default"
          {...(each === 'destroy' ? { c: 'var(--e-destroy)' } : {})}
          onClick={() => setAction(each)}
        >
          {bulkLooks[each].verb} …
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear
      </Button>
      {action !== undefined && (
        <Suspense fallback={<DialogLoading />}>
          <BulkDialog
            key={action}
            organizationId={organizationId}
            action={action}
            environments={environments}
            onClose={() => setAction(undefined)}
          />
        </Suspense>
      )}
    </section>
  );
}

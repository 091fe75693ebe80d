/** Place of the log viewer, which is loaded when it is opened. */
import { Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';

const LogViewer = lazy(() => import('./log/LogViewer.tsx'));

export interface LogPlaceProps {
  readonly deploymentId: string;
  readonly steps: readonly Step[];
  readonly isRunning: boolean;
}

export function LogPlace({ deploymentId, steps, isRunning }: LogPlaceProps) {
  return (
    <Suspense
      fallback={
        <output aria-label="Loading">
          <Loader />
        </output>
      }
    >
      <LogViewer deploymentId={deploymentId} steps={steps} isOver={!isRunning} />
    </Suspense>
  );
}

/** Where the log viewer stands; it is loaded when somebody looks at a log. */
import type { Step } from '#contract/deployments/shapes.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { callOf } from '../../ui/calls.ts';

export interface LogPlaceProps {
  readonly deploymentId: string;
  readonly steps: Step[];
  readonly isRunning: boolean;
}

export function LogPlace({ deploymentId }: LogPlaceProps) {
  return (
    <EmptyState
      title="Read the log in a terminal"
      call={callOf('The log', 'getStepLog', { params: { deploymentLogId: deploymentId, name: 'tf:plan' } }, [
        'logs',
        deploymentId,
      ])}
    />
  );
}

/** Actions on a deployment that are possible now. */

import type { WaitingFor } from '#contract/deployments/plan.ts';
import { type DeploymentAction, isTerminal, permits } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus, DeploymentType, Right } from '#contract/schema/enumerations.ts';

/** `release`: gives up a run whose agent is silent; `again`: starts the same once more. */
export type Decision = DeploymentAction | 'release' | 'again';

export const rightsOfDecisions = {
  approve: 'RUN_APPLY',
  cancel: 'RUN_PLAN',
  abort: 'ABORT_DEPLOYMENT',
  release: 'FORCE_UNLOCK_WORKSPACE',
  again: 'RUN_PLAN',
} as const satisfies Readonly<Record<Decision, Right>>;

export interface DecisionFacts {
  readonly status: DeploymentStatus;
  readonly type: DeploymentType;
  readonly waitingFor?: Pick<WaitingFor, 'kind' | 'id'> | undefined;
}

const verbsOfRepetition: Readonly<Partial<Record<DeploymentType, string>>> = {
  deploy: 'Deploy again',
  destroy: 'Destroy again',
  driftDetection: 'Check again',
  dryRun: 'Plan again',
};

/** Only a run whose agent is silent, or that does not end although it was aborted, can be released. */
function canBeReleased({ status, waitingFor }: DecisionFacts): boolean {
  const isSilent = waitingFor?.kind === 'agent' && waitingFor.id !== undefined;
  return status === 'ABORTING' || (status === 'IN_PROGRESS' && isSilent);
}

/** The decisions that the life cycle permits, in the order of their buttons. */
export function decisionsOf(facts: DecisionFacts): Decision[] {
  const { status, type } = facts;
  return [
    ...(['approve', 'cancel', 'abort'] as const).filter((action) => permits(status, action)),
    ...(canBeReleased(facts) ? (['release'] as const) : []),
    ...(isTerminal(status) && verbsOfRepetition[type] !== undefined ? (['again'] as const) : []),
  ];
}

/** The verb on the button. */
export function verbOf(decision: Decision, { status, type }: DecisionFacts): string {
  if (decision === 'cancel') return status === 'QUEUED' ? 'Cancel' : 'Refuse';
  if (decision === 'again') return verbsOfRepetition[type] ?? 'Start again';
  return { approve: 'Approve', abort: 'Abort', release: 'Release' }[decision];
}

/** Carrying out a decision, also if another user was faster. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Plan } from '#contract/deployments/plan.ts';
import type { OperationName } from '#contract/operations.ts';
import { errorText, isStatus } from '../../../api/errors.ts';
import { showDone } from '../../../api/messages.ts';
import { type QueryInput, type Reply, refresh, useChange } from '../../../api/queries.ts';
import type { DeploymentReply } from '../facts/reads.ts';
import type { Decision } from './actions.ts';

const refreshes: readonly OperationName[] = [
  'getDeployment',
  'listSteps',
  'listDeployments',
  'getEnvironment',
];

export interface Decisions {
  /** Decision whose dialog is open. */
  readonly openDecision: Decision | undefined;
  ask(decision: Decision | undefined): void;
  /** Message of the service because a decision came too late. */
  readonly tooLate: string | undefined;
  forget(): void;
  readonly isBusy: boolean;
  /** Only the plan with this hash: another one is refused. */
  approve(planHash: string | undefined, comment: string): void;
  cancel(comment: string): void;
  abort(): void;
  release(reason: string): void;
  deploy(body: NonNullable<QueryInput<'deployEnvironment'>['body']>): void;
  destroy(): void;
}

/** Subject of the buttons and their dialogs. */
export interface DecisionProps {
  readonly deployment: DeploymentReply;
  /** Undefined: it is not read yet, or is gone. */
  readonly environment: Reply<'getEnvironment'> | undefined;
  /** Undefined: it is not read yet. */
  readonly plan: Plan | null | undefined;
  readonly decisions: Decisions;
}

function bodyWith(comment: string): { comment?: string } {
  return comment.trim() === '' ? {} : { comment: comment.trim() };
}

/** Calls that carry out decisions about a deployment. */
export function useDecisions(id: string, environmentId: string): Decisions {
  const [openDecision, ask] = useState<Decision>();
  const [tooLate, setTooLate] = useState<string>();
  const navigate = useNavigate();
  const onError = (error: unknown): boolean => {
    if (!isStatus(error, 409, 412)) return false;
    setTooLate(errorText(error).text);
    ask(undefined);
    // After a 412, `useChange` does.
    if (isStatus(error, 409)) void refresh(refreshes);
    return true;
  };
  const end = (message: string) => () => {
    setTooLate(undefined);
    ask(undefined);
    showDone(message);
  };
  const goTo = (reply: { readonly id: string }) => {
    ask(undefined);
    void navigate({ to: '/deployments/$deploymentId', params: { deploymentId: reply.id } });
  };
  const approve = useChange('approveDeployment', { refreshes, onError, onSuccess: end('Approved') });
  const cancel = useChange('cancelDeployment', { refreshes, onError, onSuccess: end('Cancelled') });
  const abort = useChange('abortDeployment', {
    refreshes,
    onError,
    onSuccess: end('The tool is being stopped'),
  });
  const release = useChange('releaseDeployment', { refreshes, onError, onSuccess: end('Released') });
  const deploy = useChange('deployEnvironment', { refreshes, onError, onSuccess: goTo });
  const destroy = useChange('destroyEnvironment', { refreshes, onError, onSuccess: goTo });
  return {
    openDecision,
    ask,
    tooLate,
    forget: () => setTooLate(undefined),
    isBusy: [approve, cancel, abort, release, deploy, destroy].some(({ isPending }) => isPending),
    approve: (planHash, comment) =>
      approve.mutate({
        params: { id },
        body: { ...bodyWith(comment), ...(planHash === undefined ? {} : { planHash }) },
      }),
    cancel: (comment) => cancel.mutate({ params: { id }, body: bodyWith(comment) }),
    abort: () => abort.mutate({ params: { id } }),
    release: (reason) => release.mutate({ params: { id }, body: { reason } }),
    deploy: (body) => deploy.mutate({ params: { id: environmentId }, body }),
    destroy: () => destroy.mutate({ params: { id: environmentId } }),
  };
}

/** Whether a person may approve, cancel or abort a deployment. Pure: facts in, decision out. */
import { permits } from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';

export interface ApprovalFacts {
  readonly status: DeploymentStatus;
  /** The plan that waits. */
  readonly planHash: string | null;
  /** The plan that the caller has read, where the request names it. */
  readonly expectedHash: string | undefined;
  /** Versions of the state: the one that the plan was made on, and the current one. */
  readonly plannedOn: string | null;
  readonly currentState: string | null;
  readonly environment: { readonly name: string; readonly isLocked: boolean };
  /** Why this person may not approve it, as `approverRefusal` finds it. */
  readonly approver: string | null;
}

/** A user decides about the plan that they have read, or about none. */
function otherPlan({
  planHash,
  expectedHash,
}: Pick<ApprovalFacts, 'planHash' | 'expectedHash'>): string | null {
  if (expectedHash === undefined || expectedHash === planHash) return null;
  if (planHash === null) return '/body/planHash names a plan, but this deployment has none yet';
  return `/body/planHash is not the hash of this plan (${planHash}): read the plan again`;
}

/** @returns why the deployment cannot be approved; null where it can */
export function approvalRefusal(facts: ApprovalFacts): string | null {
  const { status, environment } = facts;
  if (!permits(status, 'approve'))
    return `The deployment is ${status}: only deployments awaiting approval can be approved`;
  if (environment.isLocked) return `Environment "${environment.name}" is locked: unlock it first`;
  const refusal = facts.approver ?? otherPlan(facts);
  if (refusal !== null) return refusal;
  if (facts.plannedOn !== facts.currentState)
    return 'The plan is outdated: the state has changed since it was made. Cancel this deployment and deploy again';
  return null;
}

/** @returns why the deployment cannot be cancelled; null where it can */
export function cancelRefusal(
  status: DeploymentStatus,
  plan: Pick<ApprovalFacts, 'planHash' | 'expectedHash'>,
): string | null {
  if (permits(status, 'cancel')) return otherPlan(plan);
  const instead = status === 'IN_PROGRESS' ? '; abort it instead' : '';
  return `The deployment is ${status}: only queued deployments and those awaiting approval can be cancelled${instead}`;
}

/** @returns why the deployment cannot be aborted; null where it can, or is being aborted already */
export function abortRefusal(status: DeploymentStatus): string | null {
  if (status === 'ABORTING' || permits(status, 'abort')) return null;
  const instead = permits(status, 'cancel') ? '; cancel it instead' : '';
  return `The deployment is ${status}: only running deployments can be aborted${instead}`;
}

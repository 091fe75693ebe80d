/** Decides what follows when a phase has ended. Pure: facts in, decision out. */
import type { PolicyDecision } from '#contract/deployments/policy-verdict.ts';
import type { DeploymentStatus, DeploymentType } from '#contract/schema/enumerations.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { waitsForMore } from './decide-approval.ts';

export interface PhaseFacts {
  readonly type: DeploymentType;
  readonly status: DeploymentStatus;
  readonly result: Outcome['result'];
  readonly requiresApproval: boolean;
  /** Approval policies decide about the plan, in a step of its own. */
  readonly hasPolicies: boolean;
  /** The applied plan had resource changes to make in a state of ours, and no newer state came back. */
  readonly hasLostState: boolean;
  /** The state has moved on since the plan began. */
  readonly isOutdated: boolean;
  /** The plan changes no resource, and the policy of the project skips the apply of such plans. */
  readonly isApplySkipped: boolean;
  /** Further units are planned once this plan is applied. */
  readonly hasNextLevel: boolean;
  /** The plan of a later level is within what was approved. */
  readonly isApproved: boolean;
}

export type NextDecision =
  /** The policies are evaluated; `decidePlanned` follows. */
  | { readonly kind: 'check' }
  /** The next level is planned. */
  | { readonly kind: 'level' }
  | PlannedDecision;

/** Decides what follows a complete plan. */
export type PlannedDecision =
  | { readonly kind: 'end'; readonly status: DeploymentStatus }
  | { readonly kind: 'wait' }
  | { readonly kind: 'apply' };

const endOfResult = {
  failed: 'FAILURE',
  aborted: 'ABORTED',
  'timed-out': 'TIMEOUT',
  internal: 'INTERNAL_FAILURE',
} as const satisfies Partial<Record<Outcome['result'], DeploymentStatus>>;

export function decideNext(facts: PhaseFacts): NextDecision {
  const { result } = facts;
  if (result === 'applied') {
    if (facts.hasLostState) return { kind: 'end', status: 'INTERNAL_FAILURE' };
    if (!facts.hasNextLevel) return { kind: 'end', status: 'SUCCESS' };
    return facts.status === 'ABORTING' ? { kind: 'end', status: 'ABORTED' } : { kind: 'level' };
  }
  if (result !== 'planned') {
    // Whatever a stopped run ended with, it ended because it was stopped.
    const wasStopped = facts.status === 'ABORTING' && (result === 'failed' || result === 'timed-out');
    return { kind: 'end', status: wasStopped ? 'ABORTED' : endOfResult[result] };
  }
  if (facts.status === 'ABORTING') return { kind: 'end', status: 'ABORTED' };
  if (planOnlyTypes.includes(facts.type)) return { kind: 'end', status: 'SUCCESS' };
  // A task has one phase, which plans nothing.
  if (facts.type === 'task') return { kind: 'end', status: 'INTERNAL_FAILURE' };
  if (facts.hasPolicies) return { kind: 'check' };
  return decidePlanned({ ...facts, verdict: null });
}

/** A plan that is complete. */
export interface PlannedFacts {
  /** Combined decision of the approval policies; null: none decides about it. */
  readonly verdict: PolicyDecision | null;
  /** A person has to approve it, after the verdicts of the policies. */
  readonly requiresApproval: boolean;
  /** It was approved, or an earlier plan that it is within. */
  readonly isApproved: boolean;
  readonly isOutdated: boolean;
  /** It changes no resource, and the project skips the apply of such plans. */
  readonly isApplySkipped: boolean;
}

/** Decides what follows a plan, once the policies have been evaluated. */
export function decidePlanned(facts: PlannedFacts): PlannedDecision {
  const { verdict } = facts;
  if (verdict === 'error') return { kind: 'end', status: 'FAILURE' };
  if (verdict === 'deny') return { kind: 'end', status: 'CANCELLED' };
  if (facts.isApplySkipped && !facts.isOutdated && verdict !== 'pending')
    return { kind: 'end', status: 'SUCCESS' };
  const mustWait = facts.isApproved ? waitsForMore(verdict) : facts.requiresApproval;
  if (mustWait) return { kind: 'wait' };
  return facts.isOutdated ? { kind: 'end', status: 'FAILURE' } : { kind: 'apply' };
}

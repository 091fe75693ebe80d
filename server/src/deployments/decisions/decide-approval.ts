/**
 * Whether a plan waits for a person, and what decides that. Pure: facts in, decision out.
 *
 * From the strongest: the person who started it may only plan; the variable ENVARIUM_REQUIRES_APPROVAL; the
 * approval policies; the request; the setting of the environment.
 */
import type { ApprovalDecider } from '#contract/schema/enumerations.ts';

export interface ApprovalDecision {
  readonly isRequired: boolean;
  /** Null: made by a version that did not record it. */
  readonly decidedBy: ApprovalDecider | null;
}

export interface ApprovalSettings {
  /** The person who starts it may plan, but not apply. */
  readonly isOnlyPlanner: boolean;
  /** Value of ENVARIUM_REQUIRES_APPROVAL; null: not set. */
  readonly variable: boolean | null;
  /** What the request says; undefined: nothing. */
  readonly request: boolean | undefined;
  /** The setting of the environment. */
  readonly environment: boolean;
}

/**
 * What the policies of a plan say together; a plan that they deny never gets here. `none`: they neither allow
 * it nor ask for anything.
 */
export type ApprovalVerdict = 'allow' | 'pending' | 'none';

/** The decision as far as it is known before there is a plan. */
export function approvalAtStart(settings: ApprovalSettings): ApprovalDecision {
  const { isOnlyPlanner, variable, request, environment } = settings;
  if (isOnlyPlanner) return { isRequired: true, decidedBy: 'planner' };
  if (variable !== null) return { isRequired: variable, decidedBy: 'variable' };
  if (request !== undefined) return { isRequired: request, decidedBy: 'request' };
  return { isRequired: environment, decidedBy: 'environment' };
}

/** @param verdict null: no policy is assigned */
export function approvalOfPlan(atStart: ApprovalDecision, verdict: ApprovalVerdict | null): ApprovalDecision {
  if (verdict === null || atStart.decidedBy === 'planner' || atStart.decidedBy === 'variable') return atStart;
  return { isRequired: verdict !== 'allow', decidedBy: 'policy' };
}

/** Whether a plan that somebody has approved waits for yet another person. @param verdict null: no policies */
export function waitsForMore(verdict: ApprovalVerdict | null): boolean {
  return verdict === 'pending';
}

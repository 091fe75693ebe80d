/**
 * Whether a plan waits for a person, and what decides that. Pure: facts in, decision out.
 *
 * From the strongest: the person who started it may only plan; the variable ENVARIUM_REQUIRES_APPROVAL; the
 * approval policies; projects that demand it; the request; the setting of the environment. What a project, an
 * organization or an approval policy demands is only lifted by a user who may edit the settings there.
 */
import type { ApprovalDecider } from '#contract/schema/enumerations.ts';

export interface ApprovalDecision {
  readonly isRequired: boolean;
  readonly decidedBy: ApprovalDecider;
}

export interface ApprovalSettings {
  /** The person who starts it may plan, but not apply. */
  readonly isOnlyPlanner: boolean;
  /** Value of ENVARIUM_REQUIRES_APPROVAL; null: not set. */
  readonly variable: boolean | null;
  /** Setting of the request; undefined: none. */
  readonly request: boolean | undefined;
  /** The setting of the environment. */
  readonly environment: boolean;
  readonly unlifted: Unlifted;
}

/** Demands of an approval that no one with the right to do so has lifted. */
export interface Unlifted {
  /** Demands that the variable does not lift: outer levels of itself, approval policies, or projects. */
  readonly variable?: 'variable' | 'policy' | 'project';
  /** Projects whose demand neither the request nor the setting of the environment lifts. */
  readonly isProjectUnlifted: boolean;
}

/**
 * Combined decision of the policies of a plan; a plan that they deny never gets here. `none`: they neither allow
 * it nor ask for anything.
 */
export type ApprovalVerdict = 'allow' | 'pending' | 'none';

/**
 * Demand of an approval for a plan that policies allow, which is above all of these: a project, or another
 * policy.
 */
export type OverridingDemand = 'project' | 'policy';

/** The decision as far as it is known before there is a plan. */
export function approvalAtStart(settings: ApprovalSettings): ApprovalDecision {
  const { isOnlyPlanner, variable, request, environment, unlifted } = settings;
  if (isOnlyPlanner) return { isRequired: true, decidedBy: 'planner' };
  if (unlifted.variable === 'variable') return { isRequired: true, decidedBy: 'variable' };
  if (variable === true || (variable === false && unlifted.variable === undefined))
    return { isRequired: variable, decidedBy: 'variable' };
  if (unlifted.isProjectUnlifted) return { isRequired: true, decidedBy: 'project' };
  const decidedBy = request === undefined ? 'environment' : 'request';
  return { isRequired: request ?? environment, decidedBy };
}

/**
 * @param verdict null: no policy is assigned
 * @param overriding null: no demand is above the policies that allow the plan
 */
export function approvalOfPlan(
  atStart: ApprovalDecision,
  verdict: ApprovalVerdict | null,
  overriding: OverridingDemand | null = null,
): ApprovalDecision {
  if (verdict === null || atStart.decidedBy === 'planner' || atStart.decidedBy === 'variable') return atStart;
  if (verdict === 'allow' && overriding === 'project') return atStart;
  return { isRequired: verdict !== 'allow' || overriding !== null, decidedBy: 'policy' };
}

/** Whether a plan that was approved waits for another approver. @param verdict null: no policies */
export function waitsForMore(verdict: ApprovalVerdict | null): boolean {
  return verdict === 'pending';
}

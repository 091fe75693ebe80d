/** Whether the plan of a new deployment will wait, with what may not lift the approval that is demanded above. */
import type { ActorContext } from '../../../framework/context.ts';
import type { ApprovalVariable } from '../../../inputs/variables/approval-variable.ts';
import type { StoredApproval } from '../../../rows/deployments/columns.ts';
import {
  type DemandPlace,
  liftersIn,
  type RemainingDemands,
} from '../../../tenancy/project-policies/lift-approval.ts';
import { policyDemands } from '../../../tenancy/project-policies/project-demands.ts';
import { approvalAtStart, type Unlifted } from '../decisions/decide-approval.ts';
import { isOnlyPlanner } from '../inputs/proposed-changes.ts';
import type { StoredFacts } from '../inputs/start-facts.ts';

/** Places whose approval policies decide about the plan. @param templateId of the code that runs */
async function ofPolicies(
  { db }: ActorContext,
  { environment, storedTemplate, hasPolicies }: StoredFacts,
  templateId: string,
): Promise<readonly DemandPlace[]> {
  if (templateId === storedTemplate.id && !hasPolicies) return [];
  const { organization_id: organizationId, project_id: projectId } = environment;
  return policyDemands(db, { organizationId, projectId, templateId });
}

/** Reason why the variable cannot lift the approval; undefined: none. */
async function unliftedByVariable(
  remainingAfter: RemainingDemands,
  { value, setBy, demands }: ApprovalVariable,
  ofProject: readonly DemandPlace[],
  policies: () => Promise<readonly DemandPlace[]>,
): Promise<Unlifted['variable']> {
  if (demands.length > 0) return 'variable';
  if (value !== false) return undefined;
  if ((await remainingAfter(setBy, await policies())).length > 0) return 'policy';
  return (await remainingAfter(setBy, ofProject)).length > 0 ? 'project' : undefined;
}

/**
 * @param facts as the request leaves them
 * @param request whether plans wait, as the request specifies it
 * @param templateId of the code that runs: a destroy runs that of the last deploy
 */
export async function approvalOfRun(
  context: ActorContext,
  facts: StoredFacts,
  request: boolean | undefined,
  variable: ApprovalVariable,
  templateId: string,
): Promise<StoredApproval> {
  const { environment, demands: ofProject } = facts;
  const remainingAfter = liftersIn(context);
  const isRequired = request ?? environment.requires_approval;
  const [byVariable, demands] = await Promise.all([
    unliftedByVariable(remainingAfter, variable, ofProject, () => ofPolicies(context, facts, templateId)),
    remainingAfter(isRequired ? null : environment.approval_lifted_by, ofProject),
  ]);
  const decision = approvalAtStart({
    isOnlyPlanner: isOnlyPlanner(context.actor, environment),
    variable: variable.value,
    request,
    environment: environment.requires_approval,
    unlifted: { ...(byVariable ? { variable: byVariable } : {}), isProjectUnlifted: demands.length > 0 },
  });
  return {
    ...decision,
    demandedIn: demands.flatMap(({ projectId }) => (projectId === null ? [] : [projectId])),
  };
}

/** Whether the plan of a new deployment will wait, with what may not lift the approval that somebody above demands. */
import type { ActorContext } from '../../context.ts';
import { policyProjects } from '../../flows/assignment-store.ts';
import { type DemandPlace, demandOf, userMayLift } from '../../policies/lift-approval.ts';
import type { ApprovalVariable } from '../../variables/approval-variable.ts';
import { type ApprovalDecision, approvalAtStart, type Unlifted } from '../decisions/decide-approval.ts';
import { isOnlyPlanner } from '../inputs/proposed-changes.ts';
import type { StartRequest, StoredFacts } from '../start-facts.ts';

/** What the project and outer variables demand, which no variable, request or environment lifts without the right. */
interface Demands {
  readonly ofProject: readonly DemandPlace[];
  readonly ofVariables: readonly DemandPlace[];
}

async function ofPolicies(context: ActorContext, { environment, hasPolicies }: StoredFacts) {
  if (!hasPolicies) return [];
  const { organization_id: organizationId, project_id: projectId, template_id: templateId } = environment;
  const places = await policyProjects(context.db, { projectId, templateId });
  return places.map((each) => ({ organizationId, projectId: each.projectId }));
}

async function unliftedByVariable(
  context: ActorContext,
  facts: StoredFacts,
  { value, setBy }: ApprovalVariable,
  { ofProject, ofVariables }: Demands,
): Promise<Unlifted['variable']> {
  if (!(await userMayLift(context, setBy, ofVariables))) return 'variable';
  if (value !== false) return undefined;
  if (!(await userMayLift(context, setBy, await ofPolicies(context, facts)))) return 'policy';
  return (await userMayLift(context, setBy, ofProject)) ? undefined : 'project';
}

/** @param lifters ids of users, of whom one may have lifted it */
async function unliftedBy(
  context: ActorContext,
  lifters: readonly (string | null)[],
  { ofProject }: Demands,
): Promise<'project' | undefined> {
  for (const userId of lifters) if (await userMayLift(context, userId, ofProject)) return undefined;
  return 'project';
}

/**
 * @param before the facts before the request is carried out
 * @param facts as the request leaves them
 */
export async function approvalOfRun(
  context: ActorContext,
  before: StoredFacts,
  facts: StoredFacts,
  { settingsChange }: StartRequest,
  variable: ApprovalVariable,
): Promise<ApprovalDecision> {
  const { environment } = facts;
  const demands = {
    ofProject: demandOf(environment.organization_id, facts.selfApprovalForbiddenIn),
    ofVariables: variable.demands,
  };
  const request = settingsChange?.asked.userRequiresApproval;
  const setBy = before.environment.approval_lifted_by;
  const isRepeated = request === before.environment.requires_approval;
  const settings = {
    isOnlyPlanner: isOnlyPlanner(context.actor, environment),
    variable: variable.value,
    request,
    environment: environment.requires_approval,
  };
  const [byVariable, byRequest, byEnvironment] = await Promise.all([
    variable.value === true ? undefined : unliftedByVariable(context, facts, variable, demands),
    request === false
      ? unliftedBy(context, [context.actor.userId, ...(isRepeated ? [setBy] : [])], demands)
      : undefined,
    request === undefined && !settings.environment ? unliftedBy(context, [setBy], demands) : undefined,
  ]);
  const unlifted: Unlifted = {
    ...(byVariable ? { variable: byVariable } : {}),
    ...(byRequest ? { request: byRequest } : {}),
    ...(byEnvironment ? { environment: byEnvironment } : {}),
  };
  return approvalAtStart({ ...settings, unlifted });
}

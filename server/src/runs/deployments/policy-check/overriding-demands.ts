/** Demands of an approval although policies allow the plan: `allow` applies where it is assigned, and below. */
import type { PolicyDecision } from '#contract/deployments/policy-verdict.ts';
import type { Connection } from '../../../framework/context.ts';
import { type PolicyPlace, policyPlaces } from '../../../rows/custom-flows/assignment-store.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { projectPath } from '../../../rows/projects/project-store.ts';
import {
  type DemandPlace,
  liftersIn,
  type RemainingDemands,
} from '../../../tenancy/project-policies/lift-approval.ts';
import type { OverridingDemand } from '../decisions/decide-approval.ts';

/** Whether a policy that is assigned somewhere may allow what a place demands: at the same place, or above it. */
async function speaksFor(
  remainingAfter: RemainingDemands,
  demand: DemandPlace,
  path: readonly string[],
  { projectId, templateId, assignedBy }: PolicyPlace,
): Promise<boolean> {
  // The right to assign policies to a template is the same for both.
  if (templateId !== null && templateId === demand.templateId) return true;
  if (projectId !== null && !path.includes(projectId)) return false;
  // To assign it to a template, the settings of its project need not be editable.
  return assignedBy === null || (await remainingAfter(assignedBy, [demand])).length === 0;
}

/** Whether one of the places has no policy that may allow what it demands. */
async function isAnyOverriding(
  db: Connection,
  demands: readonly DemandPlace[],
  allowing: readonly PolicyPlace[],
): Promise<boolean> {
  const remainingAfter = liftersIn({ db });
  for (const demand of demands) {
    const { projectId } = demand;
    const path = projectId === null ? [] : (await projectPath(db, projectId)).map(({ id }) => id);
    const speaking = await Promise.all(
      allowing.map((place) => speaksFor(remainingAfter, demand, path, place)),
    );
    if (!speaking.includes(true)) return true;
  }
  return false;
}

/**
 * Demand of an approval for a plan that policies allow, because those are all assigned below it.
 * @param verdicts of this round; some allow the plan, and none says `pending` or `deny`
 */
export async function overridingDemand(
  db: Connection,
  deployment: DeploymentRow,
  verdicts: readonly { readonly policy_id: string; readonly decision: PolicyDecision }[],
): Promise<OverridingDemand | null> {
  const { organization_id: organizationId, project_id: projectId, template_id: templateId } = deployment;
  const places = await policyPlaces(db, { projectId, templateId });
  const placesOf = (wanted: PolicyDecision) => {
    const ids = verdicts.filter(({ decision }) => decision === wanted).map((row) => row.policy_id);
    return places.filter(({ policyId }) => ids.includes(policyId));
  };
  const allowing = placesOf('allow');
  const { decidedBy, demandedIn } = deployment.approval_at_start;
  if (decidedBy === 'project') {
    const demands = demandedIn.map((id) => ({ organizationId, projectId: id }));
    if (await isAnyOverriding(db, demands, allowing)) return 'project';
  }
  const silent = placesOf('none').map((place) => ({ ...place, organizationId }));
  return (await isAnyOverriding(db, silent, allowing)) ? 'policy' : null;
}

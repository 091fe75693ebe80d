/** Demands of approvals in a project: `selfApprovalForbidden` in policies of projects, and approval policies. */
import type { Actor } from '../../framework/access/actor.ts';
import type { Connection } from '../../framework/context.ts';
import { policyPlaces } from '../../rows/custom-flows/assignment-store.ts';
import { readSelfApproval, type SelfApproval } from '../../rows/project-policies/policy-store.ts';
import { type DemandPlace, liftersIn, type RemainingDemands, standingDemands } from './lift-approval.ts';

/**
 * Of a project and those above it, those whose demand holds in it.
 * @param policies what they say, from the top down; null: nothing
 */
export async function projectsThatDemand(
  policies: readonly SelfApproval[] | null,
  remainingAfter: RemainingDemands,
): Promise<readonly DemandPlace[]> {
  const statements = (policies ?? []).map(({ organizationId, projectId, isForbidden, setBy }) => ({
    place: { organizationId, projectId },
    isDemand: isForbidden,
    setBy,
  }));
  return standingDemands(statements, remainingAfter);
}

/** The same, as it holds now. @param projectId null: of nothing */
export async function projectDemands(
  context: { readonly db: Connection; readonly actor?: Actor },
  projectId: string | null,
): Promise<readonly DemandPlace[]> {
  if (projectId === null) return [];
  return projectsThatDemand(await readSelfApproval(context.db, projectId), liftersIn(context));
}

/** Places whose approval policies decide. @param templateId null: of any template */
export async function policyDemands(
  db: Connection,
  place: { readonly organizationId: string; readonly projectId: string; readonly templateId: string | null },
): Promise<(DemandPlace & { readonly policyId: string })[]> {
  const { organizationId } = place;
  const places = await policyPlaces(db, place);
  return places.map(({ assignedBy: _, ...demand }) => ({ ...demand, organizationId }));
}

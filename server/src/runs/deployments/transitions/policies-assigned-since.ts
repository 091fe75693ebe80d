/** Policies that were assigned while a deployment was queued, and those of another template that a destroy then runs. */

import type { Updateable } from 'kysely';
import { policyCheckedTypes, policyStep } from '#protocol/tools/steps.ts';
import type { Context } from '../../../framework/context.ts';
import { arePoliciesAssignedSince, policiesFor } from '../../../rows/custom-flows/assignment-store.ts';
import { approvalColumns } from '../../../rows/deployments/columns.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { insertStepBefore } from '../../../rows/logs/step-store.ts';
import type { DeploymentTable } from '../../../rows/schema.ts';

type LatePolicyColumns = Pick<
  Updateable<DeploymentTable>,
  'has_policies' | 'requires_approval' | 'approval_decided_by' | 'approval_at_start'
>;

/** The person who switched approvals off by a variable did not know these policies: they decide. */
function unlessLifted(
  row: Pick<DeploymentRow, 'requires_approval' | 'approval_decided_by'>,
): LatePolicyColumns {
  if (row.approval_decided_by !== 'variable' || row.requires_approval) return {};
  return approvalColumns({ isRequired: false, decidedBy: 'environment', demandedIn: [] });
}

/**
 * Adds the step of the policies to a deployment whose turn has come.
 * @param row as it was queued
 * @param templateId of the code that runs
 * @returns what changes of its row
 */
export async function policiesAssignedSince(
  context: Context,
  row: Pick<
    DeploymentRow,
    | 'id'
    | 'type'
    | 'project_id'
    | 'template_id'
    | 'queued_at'
    | 'has_policies'
    | 'requires_approval'
    | 'approval_decided_by'
  >,
  templateId: string,
): Promise<LatePolicyColumns> {
  if (!policyCheckedTypes.includes(row.type)) return {};
  const place = { projectId: row.project_id, templateId };
  if (row.has_policies) {
    const areOthers =
      templateId !== row.template_id || (await arePoliciesAssignedSince(context.db, place, row.queued_at));
    return areOthers ? unlessLifted(row) : {};
  }
  if ((await policiesFor(context.db, place)).length === 0) return {};
  await insertStepBefore(context.db, row.id, { id: context.newId(), name: policyStep }, 'approval:wait');
  return { has_policies: true, ...unlessLifted(row) };
}

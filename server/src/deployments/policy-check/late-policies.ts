/** Policies that were assigned while a deployment was queued, and those of another template that a destroy then runs. */
import { policyCheckedTypes, policyStep } from '#protocol/tools/steps.ts';
import type { Updateable } from 'kysely';
import type { Context } from '../../context.ts';
import type { DeploymentTable } from '../../database/schema.ts';
import { policiesFor } from '../../flows/assignment-store.ts';
import { insertStepBefore } from '../../logs/step-store.ts';
import type { DeploymentRow } from '../deployment-store.ts';

/**
 * Adds the step of the policies to a deployment whose turn has come.
 * @param row with the template that runs
 * @returns what changes of its row
 */
export async function latePolicies(
  context: Context,
  row: Pick<
    DeploymentRow,
    | 'id'
    | 'type'
    | 'project_id'
    | 'template_id'
    | 'has_policies'
    | 'requires_approval'
    | 'approval_decided_by'
  >,
): Promise<Pick<Updateable<DeploymentTable>, 'has_policies' | 'approval_decided_by'>> {
  if (row.has_policies || !policyCheckedTypes.includes(row.type)) return {};
  const place = { projectId: row.project_id, templateId: row.template_id };
  if ((await policiesFor(context.db, place)).length === 0) return {};
  await insertStepBefore(context.db, row.id, { id: context.newId(), name: policyStep }, 'approval:wait');
  // The person who switched approvals off by a variable did not know these policies: they decide.
  const isLifted = row.approval_decided_by === 'variable' && !row.requires_approval;
  return { has_policies: true, ...(isLifted ? { approval_decided_by: 'environment' } : {}) };
}

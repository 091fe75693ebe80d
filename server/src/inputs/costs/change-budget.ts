/** Sets and deletes the budget of a project. */
import type { SetBudgetBody } from '#contract/costs/operations.ts';
import type { Budget } from '#contract/costs/shapes.ts';
import { type Changes, changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import {
  type BudgetRow,
  deleteBudgetRow,
  getBudgetRow,
  upsertBudget,
} from '../../rows/costs/budget-store.ts';
import type { ProjectRow } from '../../rows/projects/project-store.ts';
import { requireProject } from './require-project.ts';

export function budgetView({ id, project_id: projectId, amount, timeframe, thresholds }: BudgetRow): Budget {
  return { id, projectId, amount, timeframe, thresholds };
}

/** @throws Refusal 404 for a project without one */
export function requireBudget(row: BudgetRow | undefined, projectId: string): BudgetRow {
  if (!row) throw new Refusal('not_found', `The project with id "${projectId}" has no budget`);
  return row;
}

const audited = ({ amount, timeframe, thresholds }: BudgetRow) => ({ amount, timeframe, thresholds });

function record(
  context: ActorContext,
  action: 'set' | 'deleted',
  project: ProjectRow,
  { id }: BudgetRow,
  changes: Changes,
): Promise<void> {
  return recordAudit(context, {
    organizationId: project.organization_id,
    projectId: project.id,
    action: `budget.${action}`,
    entityId: id,
    ...changes,
  });
}

export async function setBudget(
  context: ActorContext,
  projectId: string,
  body: SetBudgetBody,
): Promise<Budget> {
  const project = await requireProject(context, projectId);
  const before = await getBudgetRow(context.db, project.id);
  const row = await upsertBudget(context.db, context, project.id, body);
  await record(context, 'set', project, row, changesOf(before ? audited(before) : null, audited(row)));
  return budgetView(row);
}

/** @throws Refusal 404 where there is none */
export async function deleteBudget(context: ActorContext, projectId: string): Promise<{ id: string }> {
  const project = await requireProject(context, projectId);
  const row = requireBudget(await deleteBudgetRow(context.db, project.id), project.id);
  await record(context, 'deleted', project, row, changesOf(audited(row), null));
  return { id: row.id };
}

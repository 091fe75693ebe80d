/** SQL of budgets: at most one for each project. */
import type { Selectable } from 'kysely';
import type { SetBudgetBody } from '#contract/costs/operations.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import type { BudgetTable } from '../schema.ts';

export type BudgetRow = Selectable<BudgetTable>;

export async function getBudgetRow(db: Connection, projectId: string): Promise<BudgetRow | undefined> {
  return db.selectFrom('budget').selectAll().where('project_id', '=', projectId).executeTakeFirst();
}

/** Creates the budget of a project, or replaces it under the same id. */
export async function upsertBudget(
  tx: Connection,
  context: ActorContext,
  projectId: string,
  { amount, timeframe, thresholds }: SetBudgetBody,
): Promise<BudgetRow> {
  const values = {
    amount,
    timeframe,
    thresholds: [...thresholds],
    updated_by: context.actor.userId,
    updated_at: context.now(),
  };
  return tx
    .insertInto('budget')
    .values({ id: context.newId(), project_id: projectId, ...values })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(values))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @returns what was deleted, or undefined where there was none */
export async function deleteBudgetRow(tx: Connection, projectId: string): Promise<BudgetRow | undefined> {
  return tx.deleteFrom('budget').where('project_id', '=', projectId).returningAll().executeTakeFirst();
}

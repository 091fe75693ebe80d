/** SQL of the plans of earlier levels of a deployment. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { DeploymentLevelTable } from '../schema.ts';

export type LevelRow = Selectable<DeploymentLevelTable>;

/** Keeps the plan of a deployment that was applied, as the one of a level. */
export async function keepLevel(
  tx: Connection,
  deploymentId: string,
  number: number,
  at: Date,
): Promise<void> {
  await tx
    .insertInto('deployment_level')
    .columns([
      'deployment_id',
      'number',
      'plan',
      'plan_summary',
      'plan_hash',
      'approved_parts',
      'planned_units',
      'has_changes',
      'has_resource_changes',
      'applied_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom('deployment')
        .select([
          'id',
          sql<number>`${number}`.as('number'),
          'plan',
          'plan_summary',
          'plan_hash',
          'approved_parts',
          'planned_units',
          'has_changes',
          'has_resource_changes',
          sql<Date>`${at}::timestamptz`.as('applied_at'),
        ])
        .where('id', '=', deploymentId),
    )
    .execute();
}

/** The newest of the earlier plans of a deployment that a person has approved. */
export async function approvedLevel(
  db: Connection,
  deploymentId: string,
): Promise<Pick<LevelRow, 'planned_units' | 'approved_parts'> | undefined> {
  return db
    .selectFrom('deployment_level')
    .select(['planned_units', 'approved_parts'])
    .where('deployment_id', '=', deploymentId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('review')
          .select('review.number')
          .whereRef('review.deployment_id', '=', 'deployment_level.deployment_id')
          .whereRef('review.plan_hash', '=', 'deployment_level.plan_hash')
          .where('review.action', '=', 'approved'),
      ),
    )
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** A plan, as far as it matters once it is applied. */
export type AppliedPlan = Pick<LevelRow, 'plan' | 'planned_units' | 'has_changes' | 'has_resource_changes'>;

/** The plan of the level that a deployment is at. */
export async function currentPlan(db: Connection, deploymentId: string): Promise<AppliedPlan[]> {
  return db
    .selectFrom('deployment')
    .select(['plan', 'planned_units', 'has_changes', 'has_resource_changes'])
    .where('id', '=', deploymentId)
    .execute();
}

/** The earlier plans of a deployment, oldest first. */
export const listLevels = rowsWhere('deployment_level', 'deployment_id', 'number');

/** Users who approved or cancelled a plan. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { ReviewTable } from '../schema.ts';

export interface ReviewRow {
  readonly deployment_id: string;
  readonly user_id: string;
  readonly action: Selectable<ReviewTable>['action'];
  readonly plan_hash: string | null;
  readonly comment: string | null;
  /** As text where it comes out of a list. */
  readonly created_at: Date | string;
}

/** @returns false where the same user has approved the plan already: nothing is stored then */
export async function insertReview(
  tx: Connection,
  row: {
    deploymentId: string;
    userId: string;
    action: 'approved' | 'cancelled';
    planHash: string | null;
    comment: string | undefined;
    at: Date;
  },
): Promise<boolean> {
  const stored = await tx
    .insertInto('review')
    .values({
      deployment_id: row.deploymentId,
      user_id: row.userId,
      action: row.action,
      plan_hash: row.planHash,
      comment: row.comment ?? null,
      created_at: row.at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return stored.numInsertedOrUpdatedRows !== 0n;
}

/** Reviews of several deployments, oldest first. */
export async function listReviews(db: Connection, deploymentIds: readonly string[]): Promise<ReviewRow[]> {
  if (deploymentIds.length === 0) return [];
  return db
    .selectFrom('review')
    .select(['deployment_id', 'user_id', 'action', 'plan_hash', 'comment', 'created_at'])
    .where('deployment_id', 'in', [...deploymentIds])
    .orderBy('number')
    .execute();
}

/** The users that approved a plan of a deployment, oldest first, as an array in a statement. */
export function approversOf(
  deploymentId: Expression<string>,
  planHash: Expression<string | null>,
): RawBuilder<string[]> {
  return sql<string[]>`array(select user_id from review where deployment_id = ${deploymentId}
    and action = 'approved' and review.plan_hash is not distinct from ${planHash} order by number)`;
}

/** The reviews of a deployment, oldest first, as a column of a statement about deployments; null for none. */
export function reviewsOf(
  deploymentId: Expression<string>,
): RawBuilder<Omit<ReviewRow, 'deployment_id'>[] | null> {
  return sql`(select jsonb_agg(jsonb_build_object('user_id', user_id, 'action', action, 'plan_hash', plan_hash,
      'comment', comment, 'created_at', created_at) order by number)
    from review where deployment_id = ${deploymentId})`;
}

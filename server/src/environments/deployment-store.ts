/** SQL of deployments and their reviews. */
import type { Insertable, Selectable, Updateable } from 'kysely';
import { openStatuses, speakingTypes } from '#contract/life-cycle.ts';
import type { Connection } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';

export type DeploymentRow = Selectable<DeploymentTable>;

export async function getDeploymentRow(db: Connection, id: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployment').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the deployment: what a run reports of it is stored in one order. */
export async function lockDeploymentRow(tx: Connection, id: string): Promise<DeploymentRow | undefined> {
  return tx.selectFrom('deployment').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function getDeploymentRows(db: Connection, ids: readonly string[]): Promise<DeploymentRow[]> {
  return ids.length === 0
    ? []
    : db
        .selectFrom('deployment')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute();
}

export async function insertDeployment(tx: Connection, row: Insertable<DeploymentTable>): Promise<DeploymentRow> {
  return tx.insertInto('deployment').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateDeploymentRow(tx: Connection, id: string, changes: Updateable<DeploymentTable>): Promise<DeploymentRow> {
  return tx.updateTable('deployment').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Queued and active deployments of an environment, in the order of the queue. */
export async function openDeployments(db: Connection, environmentId: string): Promise<DeploymentRow[]> {
  return db
    .selectFrom('deployment')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('status', 'in', [...openStatuses])
    .orderBy('number')
    .execute();
}

/** The same of several environments, only what decides about their order. */
export async function openDeploymentsOf(
  db: Connection,
  environmentIds: readonly string[],
): Promise<Pick<DeploymentRow, 'id' | 'environment_id' | 'type' | 'status'>[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select(['id', 'environment_id', 'type', 'status'])
    .where('environment_id', 'in', [...environmentIds])
    .where('status', 'in', [...openStatuses])
    .orderBy('number')
    .execute();
}

/** The newest deployment that speaks for the environment, whatever became of it. */
export async function newestSpeakingDeployment(db: Connection, environmentId: string): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployment')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('type', 'in', [...speakingTypes])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The last deployment that ended well and changed the world: a destroy checks out its commit. */
export async function lastDeployed(db: Connection, environmentId: string): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployment')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('type', '=', 'deploy')
    .where('commit_hash', 'is not', null)
    .where('status', 'in', ['SUCCESS', 'FAILURE', 'TIMEOUT', 'ABORTED', 'INTERNAL_FAILURE'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export interface DeploymentFilter {
  readonly environmentId: string;
  readonly types?: readonly string[];
  readonly statuses?: readonly string[];
  readonly from?: Date;
  readonly to?: Date;
}

function filtered(db: Connection, filter: DeploymentFilter) {
  let query = db.selectFrom('deployment').where('environment_id', '=', filter.environmentId);
  if (filter.types) query = query.where('type', 'in', [...filter.types]);
  if (filter.statuses) query = query.where('status', 'in', [...filter.statuses]);
  if (filter.from) query = query.where('queued_at', '>=', filter.from);
  if (filter.to) query = query.where('queued_at', '<=', filter.to);
  return query;
}

/** A page of an environment's deployments, newest first. */
export async function listDeploymentRows(
  db: Connection,
  filter: DeploymentFilter,
  page: { limit?: number; offset: number },
): Promise<DeploymentRow[]> {
  const query = filtered(db, filter).selectAll().orderBy('number', 'desc').offset(page.offset);
  return page.limit === undefined ? query.execute() : query.limit(page.limit).execute();
}

export async function countDeploymentRows(db: Connection, filter: DeploymentFilter): Promise<number> {
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export interface ReviewRow {
  readonly deployment_id: string;
  readonly user_id: string;
  readonly action: string;
}

export async function insertReview(
  tx: Connection,
  row: { deploymentId: string; userId: string; action: 'approved' | 'cancelled'; planHash: string | null; at: Date },
): Promise<void> {
  await tx
    .insertInto('review')
    .values({ deployment_id: row.deploymentId, user_id: row.userId, action: row.action, plan_hash: row.planHash, created_at: row.at })
    .execute();
}

/** Reviews of several deployments, oldest first. */
export async function listReviews(db: Connection, deploymentIds: readonly string[]): Promise<ReviewRow[]> {
  if (deploymentIds.length === 0) return [];
  return db
    .selectFrom('review')
    .select(['deployment_id', 'user_id', 'action'])
    .where('deployment_id', 'in', [...deploymentIds])
    .orderBy('number')
    .execute();
}

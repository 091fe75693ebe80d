/** SQL of deployments. */
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { openStatuses, speakingTypes } from '#contract/life-cycle/life-cycle.ts';
import { homeById } from '../access/entity-home.ts';
import type { Connection, Context } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';
import { type LockedEnvironment, lockEnvironmentRow } from '../environments/environment-store.ts';
import { notFound } from '../http/errors.ts';

export type DeploymentRow = Selectable<DeploymentTable>;

export async function getDeploymentRow(db: Connection, id: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployment').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the deployment: what a run reports of it is stored in one order. */
export async function lockDeploymentRow(tx: Connection, id: string): Promise<DeploymentRow | undefined> {
  return tx.selectFrom('deployment').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** What readers are shown of a deployment: no sealed column is read for a list. */
const shownColumns = [
  'id',
  'number',
  'environment_id',
  'organization_id',
  'project_id',
  'type',
  'status',
  'started_by',
  'trigger',
  'is_scheduled_run',
  'queued_at',
  'started_at',
  'finished_at',
  'updated_at',
  'comment',
  'skip_state_refresh',
  'targets',
  'git_user_data',
  'workflow_deployment_id',
  'workflow_deployment_options',
  'custom_environment_variables',
  'facts',
  'template_id',
  'template_name',
  'repository',
  'revision',
  'path',
  'tool',
  'commit_hash',
  'commit_to_run',
  'plan_summary',
  'has_changes',
  'is_skipped_apply',
  'drift_detected',
  'drift_cause',
  'plan_hash',
  'error',
  'failed_command',
  'resources',
  'resource_count',
  'git_metadata',
  'provider_versions',
  'module_versions',
  'state_file_hash',
  'state_version_id',
  'unrecorded_resources',
  'aborted_by',
] as const satisfies readonly (keyof DeploymentTable)[];

/** Named as the interface names them. */
export const largeColumns = [
  'plan',
  'variables',
  'output',
] as const satisfies readonly (keyof DeploymentTable)[];
export type LargeColumn = (typeof largeColumns)[number];

export type ShownDeploymentRow = Pick<DeploymentRow, (typeof shownColumns)[number] | LargeColumn>;

/** @param unread large columns that are left out: they come as if nothing was in them */
function shown(unread: readonly LargeColumn[]) {
  const left = (column: LargeColumn) => (unread.includes(column) ? sql.lit(null).as(column) : column);
  return [...shownColumns, ...largeColumns.map(left)] as const;
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

/** Several deployments, as far as readers are shown them. */
export async function getShownDeployments(
  db: Connection,
  ids: readonly string[],
  unread: readonly LargeColumn[] = [],
): Promise<ShownDeploymentRow[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('deployment')
    .select(shown(unread))
    .where('id', 'in', [...ids])
    .execute();
  return rows.map((row) => ({ ...row, variables: row.variables ?? [] })) as ShownDeploymentRow[];
}

export async function insertDeployment(
  tx: Connection,
  row: Insertable<DeploymentTable>,
): Promise<DeploymentRow> {
  return tx.insertInto('deployment').values(row).returningAll().executeTakeFirstOrThrow();
}

export async function updateDeploymentRow(
  tx: Connection,
  id: string,
  changes: Updateable<DeploymentTable>,
): Promise<DeploymentRow> {
  return tx
    .updateTable('deployment')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
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

/** @returns ids of the environments of some projects that have something queued besides a destroy, in order */
export async function environmentsWithQueued(
  db: Connection,
  projectIds: readonly string[],
): Promise<string[]> {
  if (projectIds.length === 0) return [];
  const rows = await db
    .selectFrom('deployment')
    .select('environment_id')
    .distinct()
    .where('project_id', 'in', [...projectIds])
    .where('status', '=', 'QUEUED')
    .where('type', '<>', 'destroy')
    .orderBy('environment_id')
    .execute();
  return rows.map((row) => row.environment_id);
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
export async function newestSpeakingDeployment(
  db: Connection,
  environmentId: string,
): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployment')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('type', 'in', [...speakingTypes])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether a deploy of the environment has ever succeeded. */
export async function hasSucceeded(db: Connection, environmentId: string): Promise<boolean> {
  const row = await db
    .selectFrom('deployment')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('type', '=', 'deploy')
    .where('status', '=', 'SUCCESS')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The last deploy that is over and that reached the world, well or not: a destroy and a task check out its
 * commit. One that failed in its plan changed nothing, and its code may not even parse.
 */
export async function lastDeployed(
  db: Connection,
  environmentId: string,
): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom('deployment')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('type', '=', 'deploy')
    .where('commit_hash', 'is not', null)
    .where('status', 'in', ['SUCCESS', 'FAILURE', 'TIMEOUT', 'ABORTED', 'INTERNAL_FAILURE'])
    .where((eb) =>
      eb.or([
        eb('status', '=', 'SUCCESS'),
        eb.exists(
          eb
            .selectFrom('job')
            .innerJoin('attempt', 'attempt.job_id', 'job.id')
            .select('attempt.number')
            .whereRef('job.deployment_id', '=', 'deployment.id')
            .where('attempt.mark', 'is not', null),
        ),
      ]),
    )
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export interface DeploymentFilter {
  readonly environmentId: string;
  readonly types?: readonly DeploymentRow['type'][];
  readonly statuses?: readonly DeploymentRow['status'][];
  readonly from?: Date;
  readonly to?: Date;
}

function filtered(db: Connection, filter: DeploymentFilter) {
  let query = db
    .selectFrom('deployment')
    .where('environment_id', '=', filter.environmentId)
    // The placeholder of an environment that was never deployed disappears with the first deployment.
    .where((eb) =>
      eb.or([
        eb('status', '<>', 'NEVER_DEPLOYED'),
        eb.not(
          eb.exists(
            eb
              .selectFrom('deployment as real')
              .select('real.id')
              .whereRef('real.environment_id', '=', 'deployment.environment_id')
              .where('real.status', '<>', 'NEVER_DEPLOYED'),
          ),
        ),
      ]),
    );
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
): Promise<ShownDeploymentRow[]> {
  const query = filtered(db, filter)
    .select([...shownColumns, ...largeColumns])
    .orderBy('number', 'desc')
    .offset(page.offset);
  return page.limit === undefined ? query.execute() : query.limit(page.limit).execute();
}

export async function countDeploymentRows(db: Connection, filter: DeploymentFilter): Promise<number> {
  const row = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The agent that runs each of several deployments, or ran it last. @returns its id, by deployment */
export async function lastAgents(
  db: Connection,
  deploymentIds: readonly string[],
): Promise<Map<string, string>> {
  if (deploymentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('job')
    .innerJoin('attempt', 'attempt.job_id', 'job.id')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .innerJoin('agent', 'agent.agent_key', 'agent_process.agent_key')
    .select(['job.deployment_id', 'agent.id'])
    .where('job.deployment_id', 'in', [...deploymentIds])
    .orderBy('attempt.fence')
    .execute();
  return new Map(rows.map((row) => [row.deployment_id, row.id]));
}

/** A deployment and its environment, both as they are under the environment's lock. */
export interface LockedDeployment {
  readonly deployment: DeploymentRow;
  readonly environment: LockedEnvironment;
}

/**
 * The environment first, then the deployment as it is under that lock; what its run reports waits too, so
 * that events keep their order.
 * @param environmentId where the caller knows it
 */
export async function lockDeployment(
  tx: Connection,
  id: string,
  environmentId?: string,
): Promise<LockedDeployment | undefined> {
  const home = environmentId ?? (await getDeploymentRow(tx, id))?.environment_id;
  const environment = home === undefined ? undefined : await lockEnvironmentRow(tx, home);
  const deployment = environment && (await lockDeploymentRow(tx, id));
  return deployment && { deployment, environment };
}

/** Where a deployment lives. */
export const deploymentHome = homeById((db, id) =>
  db
    .selectFrom('deployment')
    .select(['organization_id', 'project_id'])
    .where('id', '=', id)
    .executeTakeFirst(),
);

/** The same. @throws Refusal 404 */
export async function requireDeployment({ db }: Pick<Context, 'db'>, id: string): Promise<LockedDeployment> {
  const found = await lockDeployment(db, id);
  if (!found) throw notFound('deployment', id);
  return found;
}

/** SQL of deployments. */
import type { Insertable, Selectable, Updateable } from 'kysely';
import { activeStatuses, openStatuses, serialTypes, speakingTypes } from '#contract/life-cycle/life-cycle.ts';
import type { Connection } from '../../framework/context.ts';
import { constants, constantsText, statement } from '../../ground/database/prepared.ts';
import { type LockedEnvironment, lockEnvironmentRow } from '../environments/environment-store.ts';
import { homeOf } from '../row-queries.ts';
import type { DeploymentTable } from '../schema.ts';
import type { DeploymentRow } from './deployment-row.ts';

export type { DeploymentRow } from './deployment-row.ts';

/** An object has each key exactly once: the type check finds a column that is missing. */
const columns = Object.keys({
  abort_reason: 1,
  abort_requested_at: 1,
  aborted_by: 1,
  approval_at_start: 1,
  approval_decided_by: 1,
  approved_parts: 1,
  caused_by: 1,
  comment: 1,
  commit_hash: 1,
  commit_to_run: 1,
  custom_environment_variables: 1,
  drift_cause: 1,
  drift_detected: 1,
  drift_remediation: 1,
  environment_id: 1,
  error: 1,
  estimates_costs: 1,
  facts: 1,
  failed_command: 1,
  finished_at: 1,
  follows_last_deploy: 1,
  git_user_data: 1,
  has_changes: 1,
  has_policies: 1,
  has_resource_changes: 1,
  id: 1,
  is_scheduled_run: 1,
  is_skipped_apply: 1,
  level: 1,
  number: 1,
  organization_id: 1,
  path: 1,
  plan_hash: 1,
  plan_summary: 1,
  planned_units: 1,
  planned_on_state_version_id: 1,
  project_id: 1,
  queued_at: 1,
  remediation: 1,
  repository: 1,
  requested_by: 1,
  requires_approval: 1,
  resource_count: 1,
  revision: 1,
  run_settings: 1,
  skip_state_refresh: 1,
  skipped_for: 1,
  source_id: 1,
  started_at: 1,
  started_by: 1,
  state_file_hash: 1,
  state_version_id: 1,
  status: 1,
  targets: 1,
  template_id: 1,
  template_name: 1,
  tool: 1,
  tool_version: 1,
  trigger: 1,
  type: 1,
  updated_at: 1,
  upstream_environment_id: 1,
  work_folder: 1,
  workflow_deployment_id: 1,
  workflow_deployment_options: 1,
} satisfies Record<keyof DeploymentRow, 1>) as (keyof DeploymentRow)[];

const rows = (db: Connection) => db.selectFrom('deployment').select(columns);

const rowsOf = (db: Connection, environmentId: string) =>
  rows(db).where('environment_id', '=', environmentId);

export async function getDeploymentRow(db: Connection, id: string): Promise<DeploymentRow | undefined> {
  return rows(db).where('id', '=', id).executeTakeFirst();
}

/** Home and status of a deployment, without anything that grows with its code. */
export type DeploymentPlace = Pick<
  DeploymentRow,
  'id' | 'status' | 'environment_id' | 'project_id' | 'organization_id'
>;

const selectPlace = statement<DeploymentPlace>(
  'select id, status, environment_id, project_id, organization_id from deployment where id = $1',
);

export async function getDeploymentPlace(db: Connection, id: string): Promise<DeploymentPlace | undefined> {
  const [row] = await selectPlace(db, id);
  return row;
}

/** The resources of a deployment, as far as its runs have reported them; undefined: not found. */
export async function getDeploymentResources(
  db: Connection,
  id: string,
): Promise<Pick<Selectable<DeploymentTable>, 'resources'> | undefined> {
  return db.selectFrom('deployment').select('resources').where('id', '=', id).executeTakeFirst();
}

/** Locks the deployment: what a run reports of it is stored in one order. */
async function lockDeploymentRow(tx: Connection, id: string): Promise<DeploymentRow | undefined> {
  return rows(tx).where('id', '=', id).forUpdate().executeTakeFirst();
}

export async function insertDeployment(
  tx: Connection,
  row: Insertable<DeploymentTable>,
): Promise<DeploymentRow> {
  return tx.insertInto('deployment').values(row).returning(columns).executeTakeFirstOrThrow();
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
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Queued and active deployments of an environment, in the order of the queue. */
export async function openDeployments(db: Connection, environmentId: string): Promise<DeploymentRow[]> {
  return rowsOf(db, environmentId).where('status', 'in', constants(openStatuses)).orderBy('number').execute();
}

/** @returns ids of the environments of some projects that have something queued besides a destroy, in order */
export async function environmentsWithQueued(
  db: Connection,
  projectIds: readonly string[],
): Promise<string[]> {
  if (projectIds.length === 0) return [];
  const found = await db
    .selectFrom('deployment')
    .select('environment_id')
    .distinct()
    .where('project_id', 'in', [...projectIds])
    .where('status', '=', 'QUEUED')
    .where('type', '<>', 'destroy')
    .orderBy('environment_id')
    .execute();
  return found.map((row) => row.environment_id);
}

/** The same of several environments, only what decides about their order. */
export async function openDeploymentsOf(
  db: Connection,
  environmentIds: readonly string[],
): Promise<Pick<DeploymentRow, 'id' | 'environment_id' | 'type' | 'status' | 'plan_hash'>[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select(['id', 'environment_id', 'type', 'status', 'plan_hash'])
    .where('environment_id', 'in', [...environmentIds])
    .where('status', 'in', constants(openStatuses))
    .orderBy('number')
    .execute();
}

/** Facts that determine the status of an environment. */
export type SpeakerRow = Pick<DeploymentRow, 'id' | 'type' | 'status'>;

const selectSpeakers = statement<{ open: SpeakerRow[]; newest: SpeakerRow | null }>(`
  select
    (select coalesce(json_agg(o order by number), '[]') from (
      select id, type, status, number from deployment
      where environment_id = $1 and status in ${constantsText(openStatuses)}) o) as open,
    (select row_to_json(n) from (
      select id, type, status from deployment
      where environment_id = $1 and type in ${constantsText(speakingTypes)} order by number desc limit 1) n) as newest`);

export interface Speakers {
  readonly open: readonly SpeakerRow[];
  readonly newest: SpeakerRow | null;
}

/**
 * Queued and active deployments of an environment, in the order of the queue, and the newest one that speaks for
 * it, whatever became of it.
 */
export async function loadSpeakers(db: Connection, environmentId: string): Promise<Speakers> {
  const [row] = await selectSpeakers(db, environmentId);
  return row ?? { open: [], newest: null };
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
  return rowsOf(db, environmentId)
    .where('type', '=', 'deploy')
    .where('commit_hash', 'is not', null)
    .where('status', 'in', ['SUCCESS', 'FAILURE', 'TIMEOUT', 'ABORTED', 'CANCELLED', 'INTERNAL_FAILURE'])
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

/** The deployment of an environment that is active now and of which only one may run at a time. */
export async function activeSerialDeployment(
  db: Connection,
  environmentId: string,
): Promise<DeploymentRow | undefined> {
  return rowsOf(db, environmentId)
    .where('status', 'in', constants(activeStatuses))
    .where('type', 'in', [...serialTypes])
    .limit(1)
    .executeTakeFirst();
}

/** @returns ids of the deployments that have been waiting for a person since before a time */
export async function waitingForUserSince(db: Connection, before: Date): Promise<string[]> {
  const found = await db
    .selectFrom('deployment')
    .select('id')
    .where('status', '=', 'WAITING_FOR_USER')
    .where('updated_at', '<', before)
    .execute();
  return found.map((row) => row.id);
}

/** Whether an open deployment runs uploaded code. */
export async function isSourceNeeded(db: Connection, sourceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('deployment')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('status', 'in', constants(openStatuses))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** All deployments of an environment move to another project with it. */
export async function moveDeploymentsToProject(
  tx: Connection,
  environmentId: string,
  projectId: string,
): Promise<void> {
  await tx
    .updateTable('deployment')
    .set({ project_id: projectId })
    .where('environment_id', '=', environmentId)
    .execute();
}

/**
 * Deletes all deployments of an environment, with their jobs, steps, logs, events and reviews. Files that
 * their runs have stored must be given up first.
 * @returns their ids
 */
export async function deleteDeployments(tx: Connection, environmentId: string): Promise<string[]> {
  const found = await tx
    .deleteFrom('deployment')
    .where('environment_id', '=', environmentId)
    .returning('id')
    .execute();
  return found.map((row) => row.id);
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
  const home = environmentId ?? (await getDeploymentPlace(tx, id))?.environment_id;
  if (home === undefined) return undefined;
  const [environment, deployment] = await Promise.all([
    lockEnvironmentRow(tx, home),
    lockDeploymentRow(tx, id),
  ]);
  return environment && deployment && { deployment, environment };
}

/** Home of a deployment. */
export const deploymentHome = homeOf('deployment', 'project_id', 'environment_id');

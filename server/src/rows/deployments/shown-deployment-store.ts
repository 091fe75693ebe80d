/** SQL of deployments as readers see them: single ones, and lists with filters. */
import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { UnrecordedResource } from '#contract/deployments/plan.ts';
import type { Connection } from '../../framework/context.ts';
import { lastAgentOf } from '../dispatch/run-store.ts';
import type { DeploymentTable } from '../schema.ts';
import type { DeploymentRow } from './deployment-store.ts';
import { type ReviewRow, reviewsOf } from './review-store.ts';

/** View of a deployment for readers: no sealed column is read for a list. */
const shownColumns = [
  'id',
  'number',
  'environment_id',
  'organization_id',
  'project_id',
  'type',
  'status',
  'started_by',
  'requested_by',
  'approval_decided_by',
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
  'run_settings',
  'path',
  'tool',
  'commit_hash',
  'commit_to_run',
  'work_folder',
  'plan_summary',
  'planned_units',
  'level',
  'has_changes',
  'has_policies',
  'is_skipped_apply',
  'drift_detected',
  'drift_cause',
  'drift_remediation',
  'remediation',
  'skipped_for',
  'caused_by',
  'upstream_environment_id',
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
  'cost_estimation',
  'aborted_by',
] as const satisfies readonly (keyof DeploymentTable)[];

/** Large columns, named as the interface names them. */
export const largeColumns = [
  'plan',
  'variables',
  'output',
] as const satisfies readonly (keyof DeploymentTable)[];
export type LargeColumn = (typeof largeColumns)[number];

/** Columns of JSON that lists pass on as the text that the database has. */
const textColumns = [
  ...largeColumns,
  'resources',
  'git_metadata',
  'provider_versions',
  'module_versions',
  'unrecorded_resources',
  'cost_estimation',
] as const satisfies readonly (keyof DeploymentTable)[];
type TextColumn = (typeof textColumns)[number];

/** Columns that only single deployments show. */
const singleColumns = ['diagnostics'] as const satisfies readonly (keyof DeploymentTable)[];
type SingleColumn = (typeof singleColumns)[number];

export type ShownDeploymentRow = Pick<
  Selectable<DeploymentTable>,
  (typeof shownColumns)[number] | LargeColumn | SingleColumn
>;

/** Columns that a row of a list and a single one share. */
export type PlainDeploymentRow = Omit<ShownDeploymentRow, TextColumn | SingleColumn>;

/** A row of a list, with what its reply shows of other tables. */
export type ListedDeploymentRow = PlainDeploymentRow &
  Readonly<Record<TextColumn, string | null>> & {
    readonly reviews: readonly Omit<ReviewRow, 'deployment_id'>[] | null;
    readonly agent_id: string | null;
  };

/** Several deployments, as far as readers are shown them. */
export async function getShownDeployments(
  db: Connection,
  ids: readonly string[],
): Promise<ShownDeploymentRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('deployment')
    .select([...shownColumns, ...largeColumns, ...singleColumns])
    .where('id', 'in', [...ids])
    .execute();
}

const plainColumns = shownColumns.filter(
  (column): column is Exclude<(typeof shownColumns)[number], TextColumn> =>
    !(textColumns as readonly string[]).includes(column),
);

/** @param unread large columns that are left out: they come as if nothing was in them */
function listed(db: Connection, unread: readonly LargeColumn[]) {
  const texts = textColumns.map((column) =>
    (unread as readonly string[]).includes(column)
      ? sql<string | null>`null::text`.as(column)
      : sql<string | null>`${sql.ref(column)}::text`.as(column),
  );
  return db
    .selectFrom('deployment')
    .select([...plainColumns, ...texts])
    .select((eb) => [
      reviewsOf(eb.ref('deployment.id')).as('reviews'),
      lastAgentOf(eb.ref('deployment.id')).as('agent_id'),
    ]);
}

/** Several deployments for a list. @param unread large columns that are left out */
export async function getListedDeployments(
  db: Connection,
  ids: readonly string[],
  unread: readonly LargeColumn[] = [],
): Promise<ListedDeploymentRow[]> {
  if (ids.length === 0) return [];
  return listed(db, unread).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute();
}

/** Transaction that wrote a deployment, as a column of a statement about environments. */
export function deploymentVersionOf(id: Expression<string | null>): RawBuilder<string | null> {
  return sql`(select xmin::text from deployment where id = ${id})`;
}

/** Number of queued deployments of an environment, as a column of a statement about environments. */
export function queueLengthOf(environmentId: Expression<string>): RawBuilder<number> {
  return sql`(select count(*)::integer from deployment
    where environment_id = ${environmentId} and status = 'QUEUED')`;
}

/** Deployments that finished after a time: ids, as a part of other statements. */
export function finishedAfter(db: Connection, at: Date) {
  return db.selectFrom('deployment').select('id').where('finished_at', '>', at);
}

/** User who started a deployment, as a column of a statement about environments; null if it was never deployed. */
export function starterOf(deploymentId: Expression<string | null>): RawBuilder<string | null> {
  return sql`(select started_by from deployment
    where id = ${deploymentId} and status <> 'NEVER_DEPLOYED')`;
}

/** Of several users, who has started a deployment in one of the organizations. */
export async function startersAmong(
  db: Connection,
  organizationIds: readonly string[],
  userIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('deployment')
    .select('started_by as id')
    .distinct()
    .where('organization_id', '=', sql<string>`any(${organizationIds}::uuid[])`)
    .where('started_by', '=', sql<string>`any(${userIds}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
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

/**
 * A page of an environment's deployments, newest first, and how many there are.
 * @param unread large columns that are left out
 */
export async function listDeploymentPage(
  db: Connection,
  filter: DeploymentFilter,
  page: { limit: number; offset: number },
  unread: readonly LargeColumn[] = [],
): Promise<{ rows: ListedDeploymentRow[]; total: number }> {
  const count = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('total'));
  const ids = filtered(db, filter)
    .select('deployment.id')
    .orderBy('number', 'desc')
    .limit(page.limit)
    .offset(page.offset);
  const rows = await listed(db, unread)
    .select(count.as('total'))
    .where('deployment.id', 'in', ids)
    .orderBy('number', 'desc')
    .execute();
  const isPastEnd = rows.length === 0 && page.offset > 0;
  return { rows, total: rows[0]?.total ?? (isPastEnd ? (await count.executeTakeFirstOrThrow()).total : 0) };
}

/**
 * Resources that runs of an environment created, or may have created, without recording them in a state, oldest
 * first: since its last successful deploy or destroy of everything.
 */
export async function unrecordedSinceSuccess(
  db: Connection,
  environmentId: string,
): Promise<UnrecordedResource[]> {
  const success = db
    .selectFrom('deployment')
    .select(({ fn }) => fn.max('number').as('number'))
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'SUCCESS')
    .where('type', 'in', ['deploy', 'destroy'])
    .where(({ eb, fn }) => eb(fn<number>('cardinality', ['targets']), '=', 0));
  const found = await db
    .selectFrom('deployment')
    .select('unrecorded_resources')
    .where('environment_id', '=', environmentId)
    .where('unrecorded_resources', 'is not', null)
    .where(({ eb, fn, val }) => eb('number', '>', fn.coalesce(success, val(0))))
    .orderBy('number')
    .execute();
  return found.flatMap((row) => row.unrecorded_resources ?? []);
}

/** The plan of a deployment as it is shown; undefined: none is stored. */
export async function getStoredPlan(
  db: Connection,
  id: string,
): Promise<NonNullable<Selectable<DeploymentTable>['plan']> | undefined> {
  const row = await db.selectFrom('deployment').select('plan').where('id', '=', id).executeTakeFirst();
  return row?.plan ?? undefined;
}

/** Costs of a deployment's plan; undefined: not known. */
export async function getCostEstimation(
  db: Connection,
  id: string,
): Promise<NonNullable<Selectable<DeploymentTable>['cost_estimation']> | undefined> {
  const row = await db
    .selectFrom('deployment')
    .select('cost_estimation')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.cost_estimation ?? undefined;
}

/** SQL of deployments as readers see them: single ones, and lists with filters. */
import { sql } from 'kysely';
import type { Connection } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';
import type { DeploymentRow } from './deployment-store.ts';

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

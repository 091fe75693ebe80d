/** Figures of an organization, of what the caller may view. */
import {
  type DashboardQuery,
  type DashboardRow,
  type DashboardStatusWord,
  dashboardDays,
  dashboardStatuses,
  mostDashboardEnvironments,
} from '#contract/dashboards/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { DeploymentType, EnvironmentStatus } from '#contract/schema/enumerations.ts';
import type { ActorContext } from '../../framework/context.ts';
import { countFinished, type FinishedCount } from '../../rows/deployments/finished-counts-store.ts';
import { countByStatus } from '../../rows/environments/listed-environment-store.ts';
import { getProjectRows } from '../../rows/projects/project-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { listEnvironments } from '../../runs/environments/list-environments.ts';
import { visibleReach } from '../../runs/environments/visible-reach.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

const dayMilliseconds = 86_400_000;

/** The statuses of environments that count as one of the figure. */
const wordOf: Readonly<Record<EnvironmentStatus, DashboardStatusWord>> = {
  CREATED: 'INACTIVE',
  INACTIVE: 'INACTIVE',
  NEVER_DEPLOYED: 'INACTIVE',
  ACTIVE: 'ACTIVE',
  FAILED: 'FAILED',
  TIMEOUT: 'FAILED',
  ABORTED: 'FAILED',
  WAITING_FOR_USER: 'WAITING_FOR_USER',
  DEPLOY_IN_PROGRESS: 'IN_PROGRESS',
  DESTROY_IN_PROGRESS: 'IN_PROGRESS',
  TASK_IN_PROGRESS: 'IN_PROGRESS',
  DRY_RUN_IN_PROGRESS: 'IN_PROGRESS',
  ABORTING: 'IN_PROGRESS',
  DRIFTED: 'DRIFTED',
};

const failures = ['FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT', 'ABORTED'];

const sum = (rows: readonly { readonly count: number }[]) =>
  rows.reduce((total, { count }) => total + count, 0);
const byCount = (one: { readonly count: number }, other: { readonly count: number }) =>
  other.count - one.count;

/** The last days, oldest first, with today. */
function days(now: Date): string[] {
  return Array.from({ length: dashboardDays }, (_, index) =>
    new Date(now.getTime() - (dashboardDays - 1 - index) * dayMilliseconds).toISOString().slice(0, 10),
  );
}

function typeCounts(rows: readonly FinishedCount[]) {
  const of = (type: DeploymentType) => sum(rows.filter((row) => row.type === type));
  return {
    deployCount: of('deploy'),
    destroyCount: of('destroy'),
    prPlanCount: of('prPlan'),
    moduleTestCount: of('moduleTest'),
  };
}

async function finished(context: ActorContext, organizationId: string): Promise<FinishedCount[]> {
  const [first = ''] = days(context.now());
  const reach = await visibleReach(context, { organizationId });
  return countFinished(context.db, reach, new Date(`${first}T00:00:00Z`));
}

async function byUser(context: ActorContext, rows: readonly FinishedCount[]): Promise<DashboardRow[]> {
  const byStarter = Map.groupBy(rows, ({ started_by: userId }) => userId);
  const users = await getUsers(context.db, [...byStarter.keys()]);
  return [...byStarter]
    .map(([userId, own]) => ({
      user: userOf(users, userId),
      totalDeployments: sum(own),
      ...typeCounts(own),
    }))
    .toSorted((one, other) => other.totalDeployments - one.totalDeployments);
}

/** Without what is large: one read of the list. */
const excludeFields = ['plan', 'variables', 'output', 'resources']
  .map((name) => `latestDeploymentLog.${name}`)
  .join();

async function recentEnvironments(context: ActorContext, organizationId: string): Promise<DashboardRow[]> {
  const query = { organizationId, isActive: true, limit: mostDashboardEnvironments, excludeFields };
  const { environments } = await listEnvironments(context, { ...query, sort: '-updatedAt' });
  const rows = JSON.parse(environments.text) as Environment[];
  const projects = await getProjectRows(context.db, [...new Set(rows.map(({ projectId }) => projectId))]);
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    projectId: row.projectId,
    projectName: names.get(row.projectId) ?? '',
    status: row.status,
    driftStatus: row.driftStatus,
    isLocked: row.isLocked,
    user: row.user,
    createdAt: row.createdAt ?? '',
    ...(row.latestDeploymentLog.queuedAt ? { lastDeploymentDate: row.latestDeploymentLog.queuedAt } : {}),
    blueprintId: row.latestDeploymentLog.blueprintId,
    blueprintName: row.latestDeploymentLog.blueprintName,
    blueprintType: row.latestDeploymentLog.blueprintType,
    isSingleUseBlueprint: row.isSingleUseBlueprint ?? false,
  }));
}

async function ofDeployments(
  context: ActorContext,
  organizationId: string,
  queryName: Exclude<DashboardQuery, `${string}nvironments${string}`>,
): Promise<DashboardRow[]> {
  const rows = await finished(context, organizationId);
  const ofDay = (date: string) => rows.filter(({ day }) => day === date);
  switch (queryName) {
    case 'deploymentsOverTime':
      return days(context.now()).map((date) => ({ date, count: sum(ofDay(date)) }));
    case 'deploymentsByTypeOverTime':
      return days(context.now()).map((date) => ({ date, ...typeCounts(ofDay(date)) }));
    case 'deploymentsByType':
      return [...Map.groupBy(rows, ({ type }) => type)]
        .map(([deploymentType, own]) => ({ deploymentType, count: sum(own) }))
        .toSorted(byCount);
    case 'deploymentsByUser':
      return byUser(context, rows);
    case 'totalDeployments':
      return [{ value: sum(rows) }];
    case 'failedDeployments':
      return [{ value: sum(rows.filter(({ status }) => failures.includes(status))) }];
  }
}

/** The caller has checked the right to see dashboards. */
export async function dashboard(
  context: ActorContext,
  organizationId: string,
  queryName: DashboardQuery,
): Promise<DashboardRow[]> {
  if (queryName === 'recentEnvironments') return recentEnvironments(context, organizationId);
  if (
    queryName !== 'environmentsByStatus' &&
    queryName !== 'totalEnvironments' &&
    queryName !== 'activeEnvironments'
  )
    return ofDeployments(context, organizationId, queryName);
  const rows = await countByStatus(context.db, await visibleReach(context, { organizationId }));
  if (queryName === 'totalEnvironments') return [{ value: sum(rows) }];
  if (queryName === 'activeEnvironments')
    return [{ value: sum(rows.filter(({ status }) => wordOf[status] !== 'INACTIVE')) }];
  const shown = ({ status, drift }: (typeof rows)[number]) =>
    drift === 'DRIFTED' && status === 'ACTIVE' ? 'DRIFTED' : wordOf[status];
  return dashboardStatuses
    .map((status) => ({ status, count: sum(rows.filter((row) => shown(row) === status)) }))
    .toSorted(byCount);
}

/** Environments as the interface answers them. */
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Context } from '../context.ts';
import { getUsers, type UserRow } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { getShownDeployments, type LargeColumn } from '../deployments/shown-deployment-store.ts';
import { deploymentViews } from '../deployments/deployment-view.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { listSchedules, type ScheduleRow } from '../schedules/schedule-store.ts';
import { nextDates } from '../schedules/schedule-view.ts';

function lockView(row: EnvironmentRow, users: ReadonlyMap<string, UserRow>): Pick<Environment, 'lockStatus'> {
  if (!row.is_locked || row.locked_by === null || row.locked_at === null) return {};
  return {
    lockStatus: {
      ...(row.lock_reason ? { reason: row.lock_reason } : {}),
      updatedBy: row.locked_by,
      updatedByUser: userOf(users, row.locked_by),
      updatedAt: row.locked_at.toISOString(),
    },
  };
}

/** Without a drift run, the status depends on whether one is scheduled. */
function driftStatus(row: EnvironmentRow, schedules: readonly ScheduleRow[]): Environment['driftStatus'] {
  const isScheduled = schedules.some(
    (each) => each.environment_id === row.id && each.action === 'driftDetection' && each.is_enabled,
  );
  const isExpected = row.drift_status !== 'NEVER_RUN' || isScheduled;
  return isExpected ? row.drift_status : 'DISABLED';
}

/**
 * Optional fields: absent where they were never sent, because clients compare what they read with what they
 * sent.
 */
function sentSettings(row: EnvironmentRow): Partial<Environment> {
  return {
    isRemoteApplyEnabled: row.is_remote_apply_enabled,
    isSingleUseBlueprint: true,
    ...(row.vcs_commands_alias === null ? {} : { vcsCommandsAlias: row.vcs_commands_alias }),
    ...(row.vcs_pr_comments_enabled === null ? {} : { vcsPrCommentsEnabled: row.vcs_pr_comments_enabled }),
    ...(row.auto_deploy_by_custom_glob === null
      ? {}
      : { autoDeployByCustomGlob: row.auto_deploy_by_custom_glob }),
    ...(row.terragrunt_working_directory === null
      ? {}
      : { terragruntWorkingDirectory: row.terragrunt_working_directory }),
    ...(row.k8s_namespace === null ? {} : { k8sNamespace: row.k8s_namespace }),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.workflow_environment_id === null ? {} : { workflowEnvironmentId: row.workflow_environment_id }),
  };
}

function view(
  row: EnvironmentRow,
  latest: Deployment & { id: string },
  users: ReadonlyMap<string, UserRow>,
  schedules: readonly ScheduleRow[],
): Environment {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    organizationId: row.organization_id,
    projectId: row.project_id,
    userId: row.user_id,
    user: userOf(users, row.user_id),
    workspaceName: row.workspace_name,
    requiresApproval: row.requires_approval,
    status: row.status,
    latestDeploymentLogId: latest.id,
    latestDeploymentLog: latest,
    lifespanEndAt: row.lifespan_end_at?.toISOString() ?? null,
    markedForAutoDestroy: row.marked_for_auto_destroy,
    isArchived: row.is_archived,
    nextScheduledDates: nextDates(schedules, row),
    continuousDeployment: row.continuous_deployment,
    pullRequestPlanDeployments: row.pull_request_plan_deployments,
    autoDeployOnPathChangesOnly: row.auto_deploy_on_path_changes_only,
    isRemoteBackend: row.is_remote_backend,
    isLocked: row.is_locked,
    driftStatus: driftStatus(row, schedules),
    tags: row.tags,
    ...sentSettings(row),
    ...lockView(row, users),
    ...(latest.waitingFor ? { waitingFor: latest.waitingFor } : {}),
    ...(latest.resources ? { resources: latest.resources } : {}),
  };
}

/**
 * Views of several environments, in their order. @param unread large fields of their deployments that nobody
 * asked for
 */
export async function environmentViews(
  context: Context,
  rows: readonly EnvironmentRow[],
  unread: readonly LargeColumn[] = [],
): Promise<Environment[]> {
  const deployments = await getShownDeployments(
    context.db,
    rows.flatMap((row) => row.latest_deployment_id ?? []),
    unread,
  );
  const latest = new Map((await deploymentViews(context, deployments)).map((each) => [each.id, each]));
  const users = await getUsers(
    context.db,
    rows.flatMap((row) => [row.user_id, ...(row.locked_by ? [row.locked_by] : [])]),
  );
  const schedules = Map.groupBy(
    await listSchedules(
      context.db,
      rows.map((row) => row.id),
    ),
    (each) => each.environment_id,
  );
  return rows.map((row) => {
    const own = latest.get(row.latest_deployment_id ?? '');
    if (!own) throw new Error(`Environment ${row.id} has no deployment, not even a placeholder`);
    return view(row, own, users, schedules.get(row.id) ?? []);
  });
}

export async function environmentView(context: Context, row: EnvironmentRow): Promise<Environment> {
  const [only] = await environmentViews(context, [row]);
  return only as Environment;
}

/** Environments as the interface answers them. */

import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { notFound } from '../../ground/errors.ts';
import { getShownDeployments } from '../../rows/deployments/shown-deployment-store.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import {
  getListedEnvironments,
  type ListedEnvironmentRow,
  type ShownEnvironmentRow,
} from '../../rows/environments/listed-environment-store.ts';
import type { ListedSchedule } from '../../rows/schedules/schedule-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { waitingForAttempt } from '../../tenancy/lifetimes/retry-destroy.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { deploymentView } from '../deployments/views/deployment-view.ts';
import { nextDates } from '../schedules/schedule-view.ts';

function lockView(
  row: ShownEnvironmentRow,
  users: ReadonlyMap<string, UserRow>,
): Pick<Environment, 'lockStatus'> {
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
function driftStatus(
  row: ShownEnvironmentRow,
  schedules: readonly ListedSchedule[],
): Environment['driftStatus'] {
  const isScheduled = schedules.some((each) => each.action === 'driftDetection' && each.is_enabled);
  const isExpected = row.drift_status !== 'NEVER_RUN' || isScheduled;
  return isExpected ? row.drift_status : 'DISABLED';
}

/**
 * Optional fields: absent where they were never sent, because clients compare what they read with what they
 * sent.
 */
function sentSettings(row: ShownEnvironmentRow): Partial<Environment> {
  return {
    isRemoteApplyEnabled: row.is_remote_apply_enabled,
    isSingleUseBlueprint: row.is_single_use_template,
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

/** An environment without its deployment. */
export function plainView(
  row: ListedEnvironmentRow,
  latest: { readonly id: string; readonly waitingFor?: WaitingFor | undefined },
  users: ReadonlyMap<string, UserRow>,
): Omit<Environment, 'latestDeploymentLog' | 'resources'> {
  const schedules = row.schedules ?? [];
  const waitingFor = latest.waitingFor ?? waitingForAttempt(row);
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    organizationId: row.organization_id,
    projectId: row.project_id,
    projectName: row.project_name,
    userId: row.user_id,
    user: userOf(users, row.user_id),
    workspaceName: row.workspace_name,
    requiresApproval: row.requires_approval,
    status: row.status,
    latestDeploymentLogId: latest.id,
    queueLength: row.queue_length,
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
    ...(waitingFor ? { waitingFor } : {}),
  };
}

export const peopleOfEnvironment = (row: ShownEnvironmentRow) => [
  row.user_id,
  ...(row.locked_by === null ? [] : [row.locked_by]),
];

/** @throws Error if the deployment of an environment is missing */
export function required<T>(latest: T | undefined, { id }: Pick<ShownEnvironmentRow, 'id'>): T {
  if (latest === undefined) throw new Error(`Environment ${id} has no deployment, not even a placeholder`);
  return latest;
}

export async function environmentView(
  context: Context,
  { id, latest_deployment_id: latestId }: Pick<EnvironmentRow, 'id' | 'latest_deployment_id'>,
): Promise<Environment> {
  const { db } = context;
  const [deployment] = await getShownDeployments(db, latestId ? [latestId] : []);
  const latest = await deploymentView(context, required(deployment, { id }));
  const [row] = await getListedEnvironments(db, [id]);
  if (!row) throw notFound('environment', id);
  const users = await getUsers(db, peopleOfEnvironment(row));
  return {
    ...plainView(row, latest, users),
    latestDeploymentLog: latest,
    ...(latest.resources ? { resources: latest.resources } : {}),
  };
}

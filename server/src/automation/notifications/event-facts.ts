/** Makes the facts of an event from the rows that changed. */
import type { Selectable } from 'kysely';
import type { DeploymentRow } from '../../rows/deployments/deployment-row.ts';
import type { DeploymentFacts, NotifiedEnvironment } from '../../rows/notifications/stored-facts.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';

const minuteMilliseconds = 60_000;
const mostErrorCharacters = 2000;

function textOf(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

/** Absent values are null. */
export function environmentFacts(row: Selectable<EnvironmentTable>): NotifiedEnvironment {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    projectId: row.project_id,
    blueprintId: row.template_id,
    userId: row.user_id,
    status: row.status,
    driftStatus: row.drift_status,
    workspaceName: row.workspace_name,
    latestDeploymentLogId: row.latest_deployment_id,
    requiresApproval: row.requires_approval,
    isArchived: row.is_archived,
    isLocked: row.is_locked,
    isRemoteBackend: row.is_remote_backend,
    continuousDeployment: row.continuous_deployment,
    pullRequestPlanDeployments: row.pull_request_plan_deployments,
    lifespanEndAt: textOf(row.lifespan_end_at),
    markedForAutoDestroy: row.marked_for_auto_destroy,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function durationMinutes({ started_at, finished_at }: DeploymentRow): number | null {
  if (started_at === null || finished_at === null) return null;
  const minutes = (finished_at.getTime() - started_at.getTime()) / minuteMilliseconds;
  return Math.round(minutes * 100) / 100;
}

/** Absent values are null. */
export function deploymentFacts(row: DeploymentRow): DeploymentFacts {
  const { message } = row.error ?? {};
  return {
    id: row.id,
    environmentId: row.environment_id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    type: row.type,
    status: row.status,
    triggerName: row.trigger,
    startedBy: row.started_by,
    abortedBy: row.aborted_by,
    queuedAt: row.queued_at.toISOString(),
    startedAt: textOf(row.started_at),
    finishedAt: textOf(row.finished_at),
    deploymentDurationMinutes: durationMinutes(row),
    error: message === undefined ? null : { message: message.slice(0, mostErrorCharacters).toWellFormed() },
    comment: row.comment,
    blueprintId: row.template_id,
    blueprintRepository: row.repository,
    blueprintRevision: row.revision,
    commitHash: row.commit_hash,
    requiresApproval: row.requires_approval,
    resourceCount: row.resource_count,
    hasChanges: row.has_changes,
    planSummary: row.plan_summary,
    driftDetected: row.drift_detected,
    isScheduledRun: row.is_scheduled_run,
    isSkippedApply: row.is_skipped_apply,
    targets: row.targets,
  };
}

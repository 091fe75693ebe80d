/** Writes the deliveries of an event, in the transaction of what happened: only where an endpoint hears of it. */
import type { Selectable } from 'kysely';
import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { Context } from '../../framework/context.ts';
import type {
  DiscoveryNotice,
  LifetimeNotice,
  ReactionPayloads,
  Reactions,
} from '../../framework/reactions.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-row.ts';
import { endpointsThatHear } from '../../rows/notifications/assignment-store.ts';
import { deliveriesChannel, insertDeliveries } from '../../rows/notifications/delivery-store.ts';
import type {
  DeploymentFacts,
  EventFacts,
  NotifiedEnvironment,
} from '../../rows/notifications/stored-facts.ts';
import type { EnvironmentTable } from '../../rows/schema.ts';
import { eventOfMove } from './event-of-move.ts';
import { hasAssignments } from './notified-organizations.ts';

const minuteMilliseconds = 60_000;
const mostErrorCharacters = 2000;

function textOf(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

/** Facts of an environment; absent values are null. */
function environmentFacts(row: Selectable<EnvironmentTable>): NotifiedEnvironment {
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
function deploymentFacts(row: DeploymentRow): DeploymentFacts {
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

const hourMilliseconds = 3_600_000;

/** Time for which an endpoint that does not accept a notification is tried. */
export function giveUpAfter(from: Date): Date {
  return new Date(from.getTime() + 24 * hourMilliseconds);
}

async function recordEvent(
  context: Context,
  event: NotificationEvent,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
  facts: () => EventFacts,
): Promise<void> {
  if (!(await hasAssignments(context, organizationId))) return;
  const endpointIds = await endpointsThatHear(context.db, projectId, event);
  if (endpointIds.length === 0) return;
  const at = context.now();
  await insertDeliveries(context.db, {
    eventId: context.newId(),
    event,
    organizationId,
    projectId,
    facts: facts(),
    at,
    giveUpAt: giveUpAfter(at),
    endpoints: new Map(endpointIds.map((endpointId) => [context.newId(), endpointId])),
  });
  await context.events.publish(context.db, deliveriesChannel);
}

async function recordMove(context: Context, move: ReactionPayloads['deploymentMoved']): Promise<void> {
  const { deployment, environment, from, driftBefore } = move;
  const { type, status: to, drift_detected: driftDetected } = deployment;
  const event = eventOfMove({ type, from, to, driftDetected, driftBefore });
  if (event === null) return;
  const place = { organizationId: deployment.organization_id, projectId: deployment.project_id };
  await recordEvent(context, event, place, () => ({
    environment: environmentFacts(environment),
    deployment: deploymentFacts(deployment),
    lifetime: null,
    discovery: null,
  }));
}

const lifetimeEvents = {
  markedForAutoDestroy: 'environmentMarkedForAutoDestroy',
  autoDestroyRetried: 'environmentAutoDestroyRetried',
} as const satisfies Record<LifetimeNotice['notice'], NotificationEvent>;

async function recordLifetime(context: Context, noticed: LifetimeNotice): Promise<void> {
  const { environment, notice, destroyAt, reason } = noticed;
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  await recordEvent(context, lifetimeEvents[notice], place, () => ({
    environment: environmentFacts(environment),
    deployment: null,
    lifetime: { destroyAt: destroyAt.toISOString(), reason },
    discovery: null,
  }));
}

const discoveryEvents = {
  failed: 'environmentDiscoveryFailed',
  waitingForUser: 'environmentDiscoveryWaitingForUser',
} as const satisfies Record<DiscoveryNotice['notice'], NotificationEvent>;

async function recordDiscovery(context: Context, { notice, ...discovery }: DiscoveryNotice): Promise<void> {
  await recordEvent(context, discoveryEvents[notice], discovery, () => ({
    environment: null,
    deployment: null,
    lifetime: null,
    discovery: { ...discovery, reason: discovery.reason.slice(0, mostErrorCharacters).toWellFormed() },
  }));
}

export const notificationReactions: Reactions<Context> = {
  deploymentMoved: [recordMove],
  lifetimeNoticed: [recordLifetime],
  discoveryNoticed: [recordDiscovery],
};

/** Deployments as the interface answers them. */
import type { Deployment } from '#contract/deployments/shapes.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import { triggerNames } from '#contract/schema/enumerations.ts';
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { User } from '#contract/users/shapes.ts';
import type { Context } from '../context.ts';
import { getUsers, type UserRow } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import { lastAgents } from '../dispatch/run-store.ts';
import type { ShownDeploymentRow } from './shown-deployment-store.ts';
import { listReviews, type ReviewRow } from './review-store.ts';
import { shownFacts, shownRevision } from './deployment-facts.ts';
import { waitingForEach } from './waiting-for.ts';

/** What several deployments need besides their rows, loaded together. */
interface RelatedFacts {
  readonly users: ReadonlyMap<string, UserRow>;
  readonly reviews: readonly ReviewRow[];
  readonly waiting: ReadonlyMap<string, WaitingFor>;
  /** Ids of agents by deployment. */
  readonly agents: ReadonlyMap<string, string>;
}

const instant = (date: Date | null): string | null => date?.toISOString() ?? null;

function outputView(row: ShownDeploymentRow): Deployment['output'] {
  if (row.output === null) return null;
  return Object.fromEntries(
    Object.entries(row.output).map(([name, output]) => [
      name,
      output.sensitive ? { ...output, value: sensitiveMask } : output,
    ]),
  );
}

function reviewsView(row: ShownDeploymentRow, { reviews, users }: RelatedFacts) {
  const own = reviews.filter((review) => review.deployment_id === row.id);
  const last = own.at(-1);
  const action = (review: ReviewRow) => review.action;
  return {
    reviewers: own.map((review) => ({ userId: review.user_id, action: action(review) })),
    reviewersUsers: own.map((review) => ({ user: userOf(users, review.user_id), action: action(review) })),
    ...(last ? { reviewedBy: last.user_id, reviewedByUser: userOf(users, last.user_id) } : {}),
  };
}

function templateView(row: ShownDeploymentRow) {
  return {
    blueprintId: row.template_id,
    blueprintName: row.template_name,
    blueprintRepository: row.repository,
    blueprintRevision: shownRevision(row),
    blueprintPath: row.path,
    blueprintType: row.tool,
  };
}

function approverOf(row: ShownDeploymentRow, { reviews, users }: RelatedFacts): UserRow | undefined {
  const last = reviews.findLast((review) => review.deployment_id === row.id && review.action === 'approved');
  return last && users.get(last.user_id);
}

/** Fields that are present only once they have a value. */
function findings(row: ShownDeploymentRow, around: RelatedFacts) {
  const { trigger } = row;
  return withoutNulls({
    failedCommand: row.failed_command,
    comment: row.comment,
    resources: row.resources,
    ...row.git_user_data,
    triggerName: triggerNames.find((name) => name === trigger),
    trigger,
    driftDetected: row.drift_detected,
    driftCause: row.drift_cause,
    plan: row.plan,
    planSummary: row.plan_summary,
    planHash: row.plan_hash,
    isSkippedApply: row.is_skipped_apply,
    workflowDeploymentId: row.workflow_deployment_id,
    workflowDeploymentOptions: row.workflow_deployment_options,
    stateVersionId: row.state_version_id,
    targets: row.targets.length > 0 ? row.targets : null,
    variables: row.variables,
    customServiceEnvironmentVariables: shownFacts(row, approverOf(row, around)),
    gitMetadata: row.git_metadata,
    providerVersions: row.provider_versions,
    moduleVersions: row.module_versions,
    stateFileHash: row.state_file_hash === null ? null : { value: row.state_file_hash },
    unrecordedResources: row.unrecorded_resources,
    waitingFor: around.waiting.get(row.id),
    agentId: around.agents.get(row.id),
  });
}

function view(row: ShownDeploymentRow, around: RelatedFacts): Deployment & { id: string } {
  const abortedByUser: User | null = row.aborted_by === null ? null : userOf(around.users, row.aborted_by);
  return {
    id: row.id,
    createdAt: row.queued_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    type: row.type,
    status: row.status,
    environmentId: row.environment_id,
    startedBy: row.started_by,
    startedByUser: userOf(around.users, row.started_by),
    queuedAt: row.status === 'NEVER_DEPLOYED' ? null : instant(row.queued_at),
    startedAt: instant(row.started_at),
    finishedAt: instant(row.finished_at),
    ...templateView(row),
    output: outputView(row),
    error: row.error,
    costEstimation: null,
    resourceCount: row.resource_count,
    isScheduledRun: row.is_scheduled_run,
    abortedBy: row.aborted_by,
    abortedByUser,
    ...reviewsView(row, around),
    ...findings(row, around),
  };
}

async function loadRelatedFacts(
  context: Context,
  rows: readonly ShownDeploymentRow[],
): Promise<RelatedFacts> {
  const reviews = await listReviews(
    context.db,
    rows.map((row) => row.id),
  );
  const people = [
    ...rows.flatMap((row) => [row.started_by, ...(row.aborted_by ? [row.aborted_by] : [])]),
    ...reviews.map((review) => review.user_id),
  ];
  return {
    reviews,
    users: await getUsers(context.db, people),
    waiting: await waitingForEach(context, rows),
    agents: await lastAgents(
      context.db,
      rows.map((row) => row.id),
    ),
  };
}

/** Views of several deployments, in their order. */
export async function deploymentViews(
  context: Context,
  rows: readonly ShownDeploymentRow[],
): Promise<(Deployment & { id: string })[]> {
  const around = await loadRelatedFacts(context, rows);
  return rows.map((row) => view(row, around));
}

/** The view of a deployment that was just made, from what is known of it already. */
export function startedView(
  row: ShownDeploymentRow,
  { users, waiting }: { users: ReadonlyMap<string, UserRow>; waiting: WaitingFor | null },
): Deployment & { id: string } {
  const waits = new Map(waiting ? [[row.id, waiting]] : []);
  return view(row, { users, reviews: [], waiting: waits, agents: new Map() });
}

export async function deploymentView(
  context: Context,
  row: ShownDeploymentRow,
): Promise<Deployment & { id: string }> {
  return view(row, await loadRelatedFacts(context, [row]));
}

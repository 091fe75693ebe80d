/** Deployments as the interface answers them. */
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import type { Deployment, DeploymentLevel } from '#contract/deployments/shapes.ts';
import { splitOutputs } from '#contract/deployments/unit-outputs.ts';
import { triggerNames } from '#contract/schema/enumerations.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import type { User } from '#contract/users/shapes.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import { hasUnits } from '#protocol/tools/run-settings.ts';
import type { Context } from '../../../framework/context.ts';
import { withJsonFields } from '../../../framework/http/replies/json-text.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import { listVerdicts, verdictView } from '../../../rows/approval-policies/verdict-store.ts';
import type { StoredOutputs } from '../../../rows/deployments/columns.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { listLevels } from '../../../rows/deployments/level-store.ts';
import { listReviews, type ReviewRow } from '../../../rows/deployments/review-store.ts';
import type {
  ListedDeploymentRow,
  PlainDeploymentRow,
  ShownDeploymentRow,
} from '../../../rows/deployments/shown-deployment-store.ts';
import { lastAgents } from '../../../rows/dispatch/run-store.ts';
import { getUsers, type UserRow } from '../../../rows/users/user-store.ts';
import { userOf } from '../../../tenancy/users/user-view.ts';
import { shownFacts, shownRevision } from './deployment-facts.ts';
import { levelView } from './level-view.ts';
import { waitingForEach } from './waiting-for.ts';

/** Fields of a deployment in a reply besides its row. */
interface RelatedFacts {
  readonly users: ReadonlyMap<string, UserRow>;
  /** Oldest first. */
  readonly reviews: readonly Omit<ReviewRow, 'deployment_id'>[];
  readonly waitingFor: WaitingFor | undefined;
  readonly agentId: string | undefined;
  /** Of the approval policies; absent: not read, or none was evaluated. */
  readonly verdicts?: readonly PolicyVerdict[];
  /** The plans of earlier levels; absent: not read, or there are none. */
  readonly levels?: readonly DeploymentLevel[];
}

type DeploymentView = Deployment & { id: string };

const instant = (date: Date | null): string | null => date?.toISOString() ?? null;

type OutputColumns = Pick<ShownDeploymentRow, 'output' | 'run_settings'>;

function outputView({ output: outputs, run_settings: settings }: OutputColumns): unknown {
  if (outputs === null) return null;
  const shown = Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [
      name,
      output.sensitive ? { ...output, value: sensitiveMask } : output,
    ]),
  );
  return hasUnits(settings) ? splitOutputs(shown) : shown;
}

/** The values of sensitive outputs are not in this column; readers get the mask in their place. */
function outputText({
  output: text,
  run_settings,
}: Pick<ListedDeploymentRow, 'output' | 'run_settings'>): string {
  if (text === null) return 'null';
  if (!hasUnits(run_settings) && !text.includes('"sensitive": true')) return text;
  return JSON.stringify(outputView({ output: parseExactly(text) as StoredOutputs, run_settings }));
}

function reviewsView({ reviews, users }: RelatedFacts) {
  const last = reviews.at(-1);
  return {
    reviewers: reviews.map((review) => ({ userId: review.user_id, action: review.action })),
    reviewersUsers: reviews.map((review) => ({
      user: userOf(users, review.user_id),
      action: review.action,
    })),
    ...(last
      ? {
          reviews: reviews.map(({ user_id, action, plan_hash, comment, created_at }) => ({
            user: userOf(users, user_id),
            action,
            at: new Date(created_at).toISOString(),
            ...withoutNulls({ planHash: plan_hash, comment }),
          })),
        }
      : {}),
    ...(last ? { reviewedBy: last.user_id, reviewedByUser: userOf(users, last.user_id) } : {}),
  };
}

function templateView(row: PlainDeploymentRow) {
  return {
    blueprintId: row.template_id,
    blueprintName: row.template_name,
    blueprintRepository: row.repository,
    blueprintRevision: shownRevision(row),
    blueprintPath: row.path,
    blueprintType: row.tool,
  };
}

function approverOf({ reviews, users }: RelatedFacts): UserRow | undefined {
  const last = reviews.findLast((review) => review.action === 'approved');
  return last && users.get(last.user_id);
}

/** Fields that are present only once they have a value. */
function findings(row: PlainDeploymentRow, around: RelatedFacts) {
  const { trigger } = row;
  return withoutNulls({
    failedCommand: row.failed_command,
    comment: row.comment,
    ...row.git_user_data,
    triggerName: triggerNames.find((name) => name === trigger),
    trigger,
    driftDetected: row.drift_detected,
    driftCause: row.drift_cause,
    planSummary: row.plan_summary,
    isPlanEmpty: row.has_changes === null ? null : !row.has_changes,
    planHash: row.plan_hash,
    units: row.planned_units,
    level: row.level?.number,
    isSkippedApply: row.is_skipped_apply,
    workflowDeploymentId: row.workflow_deployment_id,
    workflowDeploymentOptions: row.workflow_deployment_options,
    stateVersionId: row.state_version_id,
    targets: row.targets.length > 0 ? row.targets : null,
    customServiceEnvironmentVariables: shownFacts(row, approverOf(around)),
    stateFileHash: row.state_file_hash === null ? null : { value: row.state_file_hash },
    skippedFor: row.skipped_for,
    causedBy: row.caused_by,
    upstreamEnvironmentId: row.upstream_environment_id,
    autoDriftRemediationStrategy: row.drift_remediation,
    remediation: row.remediation,
    waitingFor: around.waitingFor,
    agentId: around.agentId,
    policyVerdicts: around.verdicts && [...around.verdicts],
    earlierLevels: around.levels && [...around.levels],
  });
}

/** JSON columns of a row, as values. */
function jsonFields(row: ShownDeploymentRow) {
  return {
    output: outputView(row) as Deployment['output'],
    costEstimation: row.cost_estimation,
    ...withoutNulls({
      resources: row.resources,
      plan: row.plan,
      variables: row.variables,
      gitMetadata: row.git_metadata,
      providerVersions: row.provider_versions,
      moduleVersions: row.module_versions,
      unrecordedResources: row.unrecorded_resources,
      diagnostics: row.diagnostics,
    }),
  };
}

/** The same of a row that has it as text. */
function jsonTexts(row: ListedDeploymentRow): Record<string, string | null> {
  return {
    output: outputText(row),
    resources: row.resources,
    plan: row.plan,
    variables: row.variables ?? '[]',
    gitMetadata: row.git_metadata,
    providerVersions: row.provider_versions,
    moduleVersions: row.module_versions,
    unrecordedResources: row.unrecorded_resources,
    costEstimation: row.cost_estimation ?? 'null',
  };
}

function plainView(
  row: PlainDeploymentRow,
  around: RelatedFacts,
): Omit<DeploymentView, 'output' | 'costEstimation'> {
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
    error: row.error,
    resourceCount: row.resource_count,
    isScheduledRun: row.is_scheduled_run,
    abortedBy: row.aborted_by,
    abortedByUser,
    ...reviewsView(around),
    ...findings(row, around),
  };
}

function view(row: ShownDeploymentRow, around: RelatedFacts): DeploymentView {
  return { ...plainView(row, around), ...jsonFields(row) };
}

/** Users that the replies of deployments show. */
export function peopleOf(rows: readonly ListedDeploymentRow[]): string[] {
  return rows.flatMap((row) => [
    row.started_by,
    ...(row.aborted_by === null ? [] : [row.aborted_by]),
    ...(row.reviews ?? []).map((review) => review.user_id),
  ]);
}

/** A deployment of a list as JSON, and what its environment shows of it. */
export interface DeploymentText {
  readonly id: string;
  readonly text: string;
  readonly resources: string | null;
  readonly waitingFor: WaitingFor | undefined;
}

/** Several deployments as JSON, in their order. @param users all that `peopleOf` names */
export async function deploymentTexts(
  context: Context,
  rows: readonly ListedDeploymentRow[],
  users: ReadonlyMap<string, UserRow>,
): Promise<DeploymentText[]> {
  const waiting = await waitingForEach(context, rows);
  return rows.map((row) => {
    const waitingFor = waiting.get(row.id);
    const around = { users, reviews: row.reviews ?? [], waitingFor, agentId: row.agent_id ?? undefined };
    const text = withJsonFields(JSON.stringify(plainView(row, around)), jsonTexts(row));
    return { id: row.id, text, resources: row.resources, waitingFor };
  });
}

const nothingFound = {
  diagnostics: null,
  plan: null,
  resources: null,
  unrecorded_resources: null,
  cost_estimation: null,
  git_metadata: null,
  provider_versions: null,
  module_versions: null,
};

/** Facts about a deployment that was just created. */
interface MadeDeployment {
  readonly deployment: DeploymentRow;
  readonly variables: readonly DeploymentVariable[];
  readonly waiting: WaitingFor | null;
}

/** Its view. @param users its own, and that of its environment */
export function startedView(
  { deployment: row, variables, waiting }: MadeDeployment,
  users: ReadonlyMap<string, UserRow>,
): DeploymentView {
  // Only a destroy with nothing to destroy is over already, without outputs.
  const shown = {
    ...row,
    ...nothingFound,
    variables: [...variables],
    output: row.status === 'SUCCESS' ? {} : null,
  };
  return view(shown, { users, reviews: [], waitingFor: waiting ?? undefined, agentId: undefined });
}

export async function deploymentView(context: Context, row: ShownDeploymentRow): Promise<DeploymentView> {
  const { db } = context;
  const reviews = await listReviews(db, [row.id]);
  const verdicts = row.has_policies ? (await listVerdicts(db, row.id)).map(verdictView) : [];
  const levels = row.level === null ? [] : (await listLevels(db, row.id)).map(levelView);
  const people = [row.started_by, row.aborted_by, ...reviews.map((review) => review.user_id)];
  return view(row, {
    reviews,
    users: await getUsers(
      db,
      people.filter((id) => id !== null),
    ),
    waitingFor: (await waitingForEach(context, [row])).get(row.id),
    agentId: (await lastAgents(db, [row.id])).get(row.id),
    ...(verdicts.length === 0 ? {} : { verdicts }),
    ...(levels.length === 0 ? {} : { levels }),
  });
}

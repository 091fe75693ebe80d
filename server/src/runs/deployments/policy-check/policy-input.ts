/** Input of approval policies: the plan from the agent, and facts of the service. */
import { text } from 'node:stream/consumers';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import { commonPolicyPlan, mostPolicyInputBytes } from '#protocol/policy-plan.ts';
import type { Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { getInputs } from '../../../rows/deployments/inputs-store.ts';
import { listReviews } from '../../../rows/deployments/review-store.ts';
import { getCostEstimation, getStoredPlan } from '../../../rows/deployments/shown-deployment-store.ts';
import { getPlannedBlob } from '../../../rows/dispatch/attempt-blob-store.ts';
import { teamsOfUsers } from '../../../rows/teams/team-store.ts';
import { getUsers, systemUserId } from '../../../rows/users/user-store.ts';
import { PolicyError } from '../../../rules/approval-policies/evaluation/policy-error.ts';
import { isConfirmed } from '../decisions/is-confirmed.ts';

/** The document, without the parameters that each policy has of its own. */
export interface PolicyInput {
  readonly deploymentRequest: {
    readonly type: string;
    readonly triggerName: string;
    readonly revision: string;
  };
  readonly plan: unknown;
  readonly [part: string]: unknown;
}

/** Plan from the agent, as JSON. */
export interface AgentPart {
  readonly plan: unknown;
  readonly policyData?: unknown;
}

/** Name of the file that an agent stores with a plan that policies evaluate. */
const policyInputName = 'policy-input';

/** The agent's part. @throws PolicyError where there is none */
export async function plannedInput(context: Context, deploymentId: string): Promise<AgentPart> {
  const blob = await getPlannedBlob(context.db, deploymentId, policyInputName);
  if (!blob)
    throw new PolicyError(
      'The agent that planned sent nothing for the policies: update it, and deploy again',
    );
  if (blob.bytes > mostPolicyInputBytes)
    throw new PolicyError(
      `The plan has more than ${mostPolicyInputBytes / 1e6} MB as JSON, which is too much for approval policies`,
    );
  const content = await text(context.blobs.get(blob));
  try {
    return parseExactly(content) as AgentPart;
  } catch (error) {
    throw new PolicyError('What the agent sent for the policies is not valid JSON', { cause: error });
  }
}

/**
 * The plan that a deployment shows, as policies receive it.
 * @returns `isRebuilt`: it was made of what is shown, because what the agent sent is no longer kept; undefined: no plan is
 *   stored, whatever an agent that still plans has sent
 */
export async function shownInput(
  context: Context,
  id: string,
): Promise<(AgentPart & { readonly isRebuilt: boolean }) | undefined> {
  const plan = await getStoredPlan(context.db, id);
  if (plan === undefined) return undefined;
  if (await getPlannedBlob(context.db, id, policyInputName))
    return { ...(await plannedInput(context, id)), isRebuilt: false };
  return { plan: commonPolicyPlan(plan), isRebuilt: true };
}

/**
 * Approvers of the plan, or of an earlier one that it is within, with their teams; each once, in the order of
 * their approvals.
 */
async function approversOf(context: Context, row: DeploymentRow) {
  const { id, organization_id: organizationId, plan_hash: hash } = row;
  const reviews = await listReviews(context.db, [id]);
  const areAll = row.level === null || (await isConfirmed(context, row));
  const ids = reviews.flatMap((review) =>
    review.action === 'approved' && (areAll || review.plan_hash === hash) ? [review.user_id] : [],
  );
  const unique = [...new Set(ids)];
  const [users, teams] = await Promise.all([
    getUsers(context.db, unique),
    teamsOfUsers(context.db, organizationId, unique),
  ]);
  return unique.map((userId) => ({
    name: users.get(userId)?.name ?? '',
    email: users.get(userId)?.email ?? '',
    teams: teams.get(userId) ?? [],
  }));
}

/** For deployments without an author. */
const automated = { name: 'envarium', email: '' };

/** By who started it, not by its trigger: a request names that, and must not evade a policy by it. */
async function deployerOf(context: Context, { started_by: userId }: DeploymentRow) {
  if (userId === systemUserId) return automated;
  const user = (await getUsers(context.db, [userId])).get(userId);
  const { name = '', email = '' } = user ?? {};
  // Any key may have that name.
  const isMistakable = name.trim().toLowerCase() === automated.name;
  return { name: isMistakable ? `${name} (${userId})` : name, email };
}

/** Values by name, as readers of the deployment see them: those of sensitive ones are hidden. */
function variablesOf(rows: readonly DeploymentVariable[]): Record<string, unknown> {
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** @param planned the agent's part, or its replacement */
export async function policyInput(
  context: Context,
  row: DeploymentRow,
  planned: AgentPart,
): Promise<PolicyInput> {
  const [approvers, deployerUser, inputs, costs] = await Promise.all([
    approversOf(context, row),
    deployerOf(context, row),
    getInputs(context.db, row.id),
    getCostEstimation(context.db, row.id),
  ]);
  const type = approvers.length === 0 ? row.type : `${row.type}Resume`;
  return {
    deploymentRequest: { type, triggerName: row.trigger, revision: row.revision },
    template: {
      type: row.tool,
      repository: row.repository,
      path: row.path,
      revision: row.revision,
      id: row.template_id,
      name: row.template_name,
    },
    ...(costs === undefined ? {} : { costEstimation: costs }),
    plan: planned.plan,
    ...(row.plan_summary === null ? {} : { planSummary: row.plan_summary }),
    ...(row.has_changes === null ? {} : { isPlanEmpty: !row.has_changes }),
    deployerUser,
    approvers,
    ...(planned.policyData === undefined ? {} : { policyData: planned.policyData }),
    variables: { envarium: variablesOf(inputs?.variables ?? []) },
  };
}

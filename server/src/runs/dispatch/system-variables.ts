/**
 * The `ENVARIUM_…` names that every tool of a run sees; each key of customServiceEnvironmentVariables in
 * camelCase has one.
 */
import type { Connection } from '../../framework/context.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../rows/deployments/review-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { knownFacts } from '../deployments/views/deployment-facts.ts';

/** `deploymentLogId` → `ENVARIUM_DEPLOYMENT_LOG_ID`. */
function systemVariableName(key: string): string {
  return `ENVARIUM_${key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}`;
}

/** Users who approved a deployment last. */
export async function reviewerOf(db: Connection, deploymentId: string): Promise<UserRow | undefined> {
  const reviews = await listReviews(db, [deploymentId]);
  const id = reviews.findLast((review) => review.action === 'approved')?.user_id;
  return id ? (await getUsers(db, [id])).get(id) : undefined;
}

/** Facts that are not in the rows: secrets of the request, tokens, and the approver. */
export interface RunParts {
  readonly reviewer: UserRow | undefined;
  readonly custom: Readonly<Record<string, string>>;
  readonly vcsAccessToken: string | null;
  readonly oidcToken: string | null;
}

/** Facts of the run, overridden by what the deploy request gave as customServiceEnvironmentVariables. */
export function systemVariables(
  deployment: DeploymentRow,
  { custom, vcsAccessToken, oidcToken, reviewer }: RunParts,
): Record<string, string> {
  // Readers see the arguments of a run; for the run itself these are variables that only its
  // owner may set.
  const {
    vcsAccessToken: _,
    oidcToken: __,
    cliArgsPlan: ___,
    cliArgsApply: ____,
    ...facts
  } = knownFacts(deployment, reviewer);
  const tokens = {
    ...(vcsAccessToken === null ? {} : { vcsAccessToken }),
    ...(oidcToken === null ? {} : { oidcToken }),
  };
  const all = { ...facts, ...tokens, ...deployment.custom_environment_variables, ...custom };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [systemVariableName(key), value]));
}

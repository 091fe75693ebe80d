/**
 * The `ENVARIUM_…` names that every tool of a run sees; each key of customServiceEnvironmentVariables in
 * camelCase has one.
 */
import type { Connection } from '../context.ts';
import type { DeploymentRow } from '../deployments/deployment-store.ts';
import { listReviews } from '../deployments/review-store.ts';
import { factsAtStart, knownFacts } from '../deployments/deployment-facts.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import type { TemplateRow } from '../templates/template-store.ts';
import { getUsers } from '../users/user-store.ts';

/** `deploymentLogId` → `ENVARIUM_DEPLOYMENT_LOG_ID`. */
export function systemVariableName(key: string): string {
  return `ENVARIUM_${key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}`;
}

/** The facts of deployments from before facts were stored. */
async function factsOf(
  db: Connection,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
): Promise<DeploymentRow> {
  if (Object.keys(deployment.facts).length > 0) return deployment;
  return {
    ...deployment,
    facts: await factsAtStart(db, deployment, {
      environment,
      template,
      users: await getUsers(db, [environment.user_id, deployment.started_by]),
    }),
  };
}

/** What only the run gets: secrets of the request, and the token for the repository. */
export interface RunSecrets {
  readonly custom: Readonly<Record<string, string>>;
  readonly vcsAccessToken: string | null;
}

/** Facts of the run, overridden by what the deploy request gave as customServiceEnvironmentVariables. */
export async function systemVariables(
  db: Connection,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
  { custom, vcsAccessToken }: RunSecrets,
): Promise<Record<string, string>> {
  const reviewerId = (await listReviews(db, [deployment.id])).findLast(
    (review) => review.action === 'approved',
  )?.user_id;
  const reviewer = reviewerId ? (await getUsers(db, [reviewerId])).get(reviewerId) : undefined;
  // Readers see the arguments of a run; for the run itself these are variables that only its
  // owner may set.
  const {
    vcsAccessToken: _,
    cliArgsPlan: __,
    cliArgsApply: ___,
    ...facts
  } = knownFacts(await factsOf(db, deployment, environment, template), reviewer);
  const token = vcsAccessToken === null ? {} : { vcsAccessToken };
  const all = { ...facts, ...token, ...deployment.custom_environment_variables, ...custom };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [systemVariableName(key), value]));
}

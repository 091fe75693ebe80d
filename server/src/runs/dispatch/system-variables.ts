/**
 * The `ENVARIUM_…` names that every tool of a run sees; each key of customServiceEnvironmentVariables in
 * camelCase has one.
 */
import type { Connection, Context } from '../../framework/context.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../rows/deployments/review-store.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { TemplateRow } from '../../rows/templates/template-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { factsAtStart, knownFacts } from '../deployments/views/deployment-facts.ts';

/** `deploymentLogId` → `ENVARIUM_DEPLOYMENT_LOG_ID`. */
export function systemVariableName(key: string): string {
  return `ENVARIUM_${key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}`;
}

/** The facts of deployments from before facts were stored. */
async function factsOf(
  context: Pick<Context, 'db' | 'settings' | 'sealer'>,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
): Promise<DeploymentRow> {
  if (Object.keys(deployment.facts).length > 0) return deployment;
  return {
    ...deployment,
    facts: await factsAtStart(context, deployment, {
      environment,
      template,
      users: await getUsers(context.db, [environment.user_id, deployment.started_by]),
    }),
  };
}

/** Who approved a deployment last. */
export async function reviewerOf(db: Connection, deploymentId: string): Promise<UserRow | undefined> {
  const reviews = await listReviews(db, [deploymentId]);
  const id = reviews.findLast((review) => review.action === 'approved')?.user_id;
  return id ? (await getUsers(db, [id])).get(id) : undefined;
}

/** What the rows do not say: secrets of the request, tokens, and who approved it. */
export interface RunParts {
  readonly reviewer: UserRow | undefined;
  readonly custom: Readonly<Record<string, string>>;
  readonly vcsAccessToken: string | null;
  readonly oidcToken: string | null;
}

/** Facts of the run, overridden by what the deploy request gave as customServiceEnvironmentVariables. */
export async function systemVariables(
  context: Pick<Context, 'db' | 'settings' | 'sealer'>,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
  { custom, vcsAccessToken, oidcToken, reviewer }: RunParts,
): Promise<Record<string, string>> {
  // Readers see the arguments of a run; for the run itself these are variables that only its
  // owner may set.
  const {
    vcsAccessToken: _,
    oidcToken: __,
    cliArgsPlan: ___,
    cliArgsApply: ____,
    ...facts
  } = knownFacts(await factsOf(context, deployment, environment, template), reviewer);
  const tokens = {
    ...(vcsAccessToken === null ? {} : { vcsAccessToken }),
    ...(oidcToken === null ? {} : { oidcToken }),
  };
  const all = { ...facts, ...tokens, ...deployment.custom_environment_variables, ...custom };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [systemVariableName(key), value]));
}

/** The cloud credentials of a run and its OIDC tokens, all for this one phase only. */
import { createHash } from 'node:crypto';
import { kubeconfigSecrets } from '#clouds/kubernetes.ts';
import type { CredentialValue } from '#contract/credentials/kinds.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import type { Context } from '../../../framework/context.ts';
import { audienceOf } from '../../../inputs/credentials/audience.ts';
import { formProblem } from '../../../inputs/credentials/check-value.ts';
import { nearestOf } from '../../../inputs/credentials/run-credentials.ts';
import {
  issuerOf,
  type RunFacts,
  type SignToken,
  subjectOf,
  tokenSigner,
} from '../../../inputs/oidc-issuer/run-token.ts';
import {
  type AssignedCredential,
  openValue,
  runCredentialRows,
} from '../../../rows/credentials/credential-store.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import type { EnvironmentRow } from '../../../rows/environments/environment-store.ts';
import type { JobFacts } from '../job-facts.ts';

function privateTexts(text: string): string[] {
  try {
    const key = JSON.parse(text) as Record<string, unknown>;
    return [key['private_key'], key['private_key_id']].filter((value) => typeof value === 'string');
  } catch {
    return [text];
  }
}

/** The parts of a credential that logs must not show. Names of accounts, projects and regions may appear. */
function secretTexts(value: CredentialValue): string[] {
  const { secretAccessKey, clientSecret, privateKey, serviceAccountKey, secret, kubeConfig } = value;
  return [
    ...[secretAccessKey, clientSecret, privateKey].filter((text) => text !== undefined),
    ...[serviceAccountKey, secret].flatMap((text) => (text === undefined ? [] : privateTexts(text))),
    ...(kubeConfig === undefined ? [] : kubeconfigSecrets(kubeConfig)),
  ];
}

export interface CredentialsForRun {
  readonly credentials: RunCredential[];
  /** For ENVARIUM_OIDC_TOKEN; null where the organization does not want it, or tokens cannot be issued. */
  readonly oidcToken: string | null;
  readonly secrets: string[];
}

interface RunRows {
  readonly job: Pick<JobFacts['job'], 'phase'>;
  readonly deployment: DeploymentRow;
  readonly environment: EnvironmentRow;
}

/** Required validity of a token, beyond the limits of a phase. */
const spareSeconds = 600;

function secondsOf({ settings }: Pick<Context, 'settings'>, { type }: DeploymentRow): number {
  const limit = type === 'task' ? settings.taskTimeLimitSeconds : settings.runTimeLimitSeconds;
  return limit + settings.abortSeconds + spareSeconds;
}

function factsOf({ job, deployment, environment }: RunRows, projectPath: readonly string[]): RunFacts {
  return {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    projectPath,
    environmentId: environment.id,
    templateId: environment.template_id,
    deploymentId: deployment.id,
    deploymentType: deployment.type as DeploymentType,
    phase: job.phase,
  };
}

function unusable({ id, name, type }: AssignedCredential, problem: string): RunCredential {
  return { id, name, type, version: '', value: {}, problem };
}

/** Key that changes only with the value and its user. */
function versionOf(row: AssignedCredential, subject: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([row.id, row.updated_at.toISOString(), subject]))
    .digest('hex');
}

interface TokenSigning {
  readonly facts: RunFacts;
  /** For which tokens are valid. */
  readonly seconds: number;
  readonly sign: SignToken;
}

async function openCredential(
  context: Context,
  row: AssignedCredential,
  { facts, seconds, sign }: TokenSigning,
): Promise<RunCredential> {
  const value: CredentialValue = openValue(context, row);
  const problem = formProblem(value);
  if (problem !== null) return unusable(row, `cannot be used: its ${problem}`);
  const { id, name, type } = row;
  const base = { id, name, type, value: { ...value } };
  const audience = audienceOf(type, value);
  if (audience === null) return { ...base, version: versionOf(row, null) };
  if (issuerOf(context) === null)
    return unusable(
      row,
      'needs a token of the service, which needs the setting ENVARIUM_BASE_URL: an https address that the cloud can read',
    );
  const { tokenFormat: format = 'v1' } = value;
  const token = await sign({ audience, format, seconds });
  // A cloud may decide by any claim.
  return { ...base, version: versionOf(row, subjectOf(facts, 'v2')), token };
}

export async function credentialsForRun(context: Context, run: RunRows): Promise<CredentialsForRun> {
  const { environment, deployment } = run;
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  const { rows, hierarchy, isOidcEnabled } = await runCredentialRows(context.db, place);
  const facts = factsOf(run, hierarchy.split('|'));
  const seconds = secondsOf(context, deployment);
  const sign = tokenSigner(context, facts);
  const credentials: RunCredential[] = [];
  for (const row of nearestOf(rows))
    credentials.push(await openCredential(context, row, { facts, seconds, sign }));
  const issuer = issuerOf(context);
  const oidcToken =
    isOidcEnabled && issuer !== null ? await sign({ audience: issuer, format: 'v1', seconds }) : null;
  const tokens = credentials.flatMap(({ token }) => token ?? []);
  return {
    credentials,
    oidcToken,
    secrets: [
      ...credentials.flatMap(({ value }) => secretTexts(value as CredentialValue)),
      ...tokens,
      ...(oidcToken === null ? [] : [oidcToken]),
    ],
  };
}

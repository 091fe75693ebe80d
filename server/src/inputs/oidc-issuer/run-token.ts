/** Tokens by which a run, or the service itself, proves to a cloud who it is. */
import type { TokenFormat } from '#contract/credentials/kinds.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import type { Context } from '../../framework/context.ts';
import { algorithm, longestTokenSeconds, signingKey } from './rotate-keys.ts';

type SigningContext = Pick<Context, 'db' | 'settings' | 'sealer' | 'now' | 'newId'>;

/** Claims of a token about a run. */
export interface RunFacts {
  readonly organizationId: string;
  readonly projectId: string;
  /** Ids from the root down to the project itself. */
  readonly projectPath: readonly string[];
  readonly environmentId: string;
  readonly templateId: string;
  readonly deploymentId: string;
  readonly deploymentType: DeploymentType;
  readonly phase: 'plan' | 'apply';
}

/** Subject of a token: a run, or the organization when a credential is tested. */
export type TokenFacts = RunFacts | Pick<RunFacts, 'organizationId'>;

/** The subject of tokens in the format v1: the same for all runs of an organization. */
export function organizationSubject(organizationId: string): string {
  return `organization:${organizationId}`;
}

/** Trust policies compare it: it never changes its form. */
export function subjectOf(facts: TokenFacts, format: TokenFormat): string {
  const { organizationId } = facts;
  if (format === 'v1' || !('environmentId' in facts)) return organizationSubject(organizationId);
  const { projectId, environmentId, deploymentType, phase } = facts;
  return [
    organizationSubject(organizationId),
    `project:${projectId}`,
    `environment:${environmentId}`,
    `type:${deploymentType}`,
    `phase:${phase}`,
  ].join(':');
}

function claimsOf(facts: TokenFacts): Record<string, unknown> {
  const organization = { organization_id: facts.organizationId };
  if (!('environmentId' in facts)) return organization;
  return {
    ...organization,
    project_id: facts.projectId,
    project_path: facts.projectPath,
    environment_id: facts.environmentId,
    template_id: facts.templateId,
    deployment_id: facts.deploymentId,
    deployment_type: facts.deploymentType,
    phase: facts.phase,
  };
}

/** Names of claims, as the discovery document lists them. */
export const claimNames = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'organization_id',
  'project_id',
  'project_path',
  'environment_id',
  'template_id',
  'deployment_id',
  'deployment_type',
  'phase',
] as const;

/** The address that tokens name as their issuer; null where the service does not know its public address. */
export function issuerOf({ settings }: Pick<Context, 'settings'>): string | null {
  return settings.baseUrl?.replace(/\/+$/, '') ?? null;
}

/** Clocks of clouds may be behind. */
const skewSeconds = 30;

export interface TokenRequest {
  readonly audience: string;
  readonly format: TokenFormat;
  /** At most a day is granted. */
  readonly seconds: number;
}

/** Signs a token about one run. */
export type SignToken = (request: TokenRequest) => Promise<string>;

/** Signs tokens about one run: the key is read once. */
export function tokenSigner(context: SigningContext, facts: TokenFacts): SignToken {
  let key: ReturnType<typeof signingKey> | undefined;
  return (request) => {
    key ??= signingKey(context);
    return signToken(context, facts, request, key);
  };
}

/**
 * @param signing the key, if it was read before
 * @throws Error where the service does not know its public address
 */
export async function signToken(
  context: SigningContext,
  facts: TokenFacts,
  { audience, format, seconds }: TokenRequest,
  signing?: ReturnType<typeof signingKey>,
): Promise<string> {
  const issuer = issuerOf(context);
  if (issuer === null) throw new Error('Tokens of runs need the setting ENVARIUM_BASE_URL');
  // Loaded for the first token: most installations never need it.
  const [{ SignJWT }, { id, key }] = await Promise.all([import('jose'), signing ?? signingKey(context)]);
  const now = Math.floor(context.now().getTime() / 1000);
  return new SignJWT(claimsOf(facts))
    .setProtectedHeader({ alg: algorithm, kid: id, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(subjectOf(facts, format))
    .setAudience(audience)
    .setJti(context.newId())
    .setIssuedAt(now)
    .setNotBefore(now - skewSeconds)
    .setExpirationTime(now + Math.min(seconds, longestTokenSeconds))
    .sign(key);
}

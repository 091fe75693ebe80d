/** Tells whether a credential works: asks the cloud where the service can do so itself, and says honestly where not. */

import { assumeRole, assumeRoleByToken, callerIdentity } from '#clouds/aws.ts';
import { CloudProblem, type PrivateHosts } from '#clouds/exchange.ts';
import { kubernetesVersion, NotAskable } from '#clouds/kubernetes.ts';
import { logInToVault, lookUpVaultToken, revokeVaultToken } from '#clouds/vault.ts';
import { type CredentialType, type CredentialValue, kindOf } from '#contract/credentials/kinds.ts';
import type { CredentialTest } from '#contract/credentials/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { type CredentialRow, getCredentialRow, openValue } from '../../rows/credentials/credential-store.ts';
import { issuerOf, signToken } from '../oidc-issuer/run-token.ts';
import { audienceOf } from './audience.ts';
import { requireRightAbout } from './change-credential.ts';
import { formProblem } from './check-value.ts';

interface Testing {
  readonly value: CredentialValue;
  /** Of the service, about the organization; empty for a type without one. */
  readonly token: string;
  readonly organizationId: string;
  readonly privateHosts: PrivateHosts;
  readonly signal: AbortSignal;
}

/** @returns who the cloud says it is, as the end of a sentence @throws CloudProblem */
type CloudCheck = (testing: Testing) => Promise<string>;

const tokenSeconds = 300;
const sessionName = 'envarium-test';

async function askWithKeys({ value, signal }: Testing): Promise<string> {
  const { accessKeyId = '', secretAccessKey = '' } = value;
  return `AWS says that it is ${await callerIdentity({ signal }, { accessKeyId, secretAccessKey })}`;
}

async function askForRole({ value, organizationId, signal }: Testing): Promise<string> {
  const request = { value, sessionName, externalId: organizationId, seconds: 0 };
  const session = await assumeRole({ signal }, request);
  return `AWS says that it is ${await callerIdentity({ signal }, session, value.roleArn)}`;
}

async function askByToken({ value: { roleArn = '' }, token, signal }: Testing): Promise<string> {
  const session = await assumeRoleByToken({ signal }, { roleArn, token, sessionName });
  return `AWS says that it is ${await callerIdentity({ signal }, session, roleArn)}`;
}

async function askVault({ value, token, privateHosts, signal }: Testing): Promise<string> {
  const access = { privateHosts, signal };
  const found = await logInToVault(access, value, token);
  const policies = await lookUpVaultToken(access, value, found);
  await revokeVaultToken(access, value, found);
  const rights = policies.length === 0 ? 'without policies' : `with the policies ${policies.join(', ')}`;
  return `Vault accepts it, ${rights}`;
}

async function askKubernetes({ value, privateHosts, signal }: Testing): Promise<string> {
  const version = await kubernetesVersion({ privateHosts, signal }, value.kubeConfig ?? '');
  return `the server accepts it, and has the version ${version || 'of something that is not Kubernetes'}`;
}

const asks: Readonly<Partial<Record<CredentialType, CloudCheck>>> = {
  AWS_ACCESS_KEYS_FOR_DEPLOYMENT: askWithKeys,
  AWS_ASSUMED_ROLE_FOR_DEPLOYMENT: askForRole,
  AWS_ASSUMED_ROLE: askForRole,
  AWS_OIDC: askByToken,
  VAULT_OIDC: askVault,
  K8S_KUBECONFIG_FILE: askKubernetes,
};

/** Why the service cannot ask the cloud; null: it can. */
function reasonNotToAsk(type: CredentialType, value: CredentialValue): string | null {
  if (value.clusterName !== undefined)
    return 'a run finds the cluster by its credential of the cloud, and there is none: deploy an environment';
  if (asks[type] === undefined) return `the service cannot ask the cloud about credentials of type ${type}`;
  if (type.startsWith('AWS_ASSUMED_ROLE') && value.accessKeyId === undefined)
    return 'it has no access keys: agents assume the role by their own identity, which the service does not have';
  return value.tokenFormat === 'v2'
    ? 'the subject of its tokens (v2) names a run, and there is none: deploy an environment'
    : null;
}

const untested = (isOk: boolean, message: string): CredentialTest => ({ isTested: false, isOk, message });

async function tested(context: ActorContext, row: CredentialRow): Promise<CredentialTest> {
  const { type, organization_id: organizationId } = row;
  const value = openValue(context, row);
  const problem = formProblem(value);
  if (problem !== null) return untested(false, `It cannot be used: its ${problem}.`);
  if (kindOf(type).isOidc === true && issuerOf(context) === null)
    return untested(false, 'It needs tokens of the service, which need the setting ENVARIUM_BASE_URL.');
  const reason = reasonNotToAsk(type, value);
  const ask = asks[type];
  if (reason !== null || ask === undefined) return untested(true, `Only its form was checked: ${reason}.`);
  const audience = audienceOf(type, value);
  const request = { audience: audience ?? '', format: 'v1', seconds: tokenSeconds } as const;
  const token = audience === null ? '' : await signToken(context, { organizationId }, request);
  const privateHosts = new Set(context.settings.credentialPrivateHosts);
  try {
    const found = await ask({ value, token, organizationId, privateHosts, signal: context.stopping });
    return { isTested: true, isOk: true, message: `It works: ${found}.` };
  } catch (error) {
    if (error instanceof NotAskable) return untested(true, `Only its form was checked: ${error.message}.`);
    if (!(error instanceof CloudProblem)) throw error;
    return { isTested: true, isOk: false, message: `It ${error.message}.` };
  }
}

/**
 * No transaction is open while the cloud is queried.
 * @throws Refusal 404, 403
 */
export async function testCredential(context: ActorContext, id: string): Promise<CredentialTest> {
  const row = orNotFound(await getCredentialRow(context.db, id), 'credential', id);
  requireRightAbout(context, row, 'Testing');
  const test = await tested(context, row);
  await inTransaction(context, (context) =>
    recordAudit(context, {
      organizationId: row.organization_id,
      projectId: row.project_id,
      action: 'credential.tested',
      entityId: row.id,
      details: { name: row.name, isTested: test.isTested, isOk: test.isOk },
      ...changesOf(null, null),
    }),
  );
  return test;
}

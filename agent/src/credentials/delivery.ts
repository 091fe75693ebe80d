/**
 * Form of a cloud credential for the tools of a run: the variables and files that they read automatically.
 * Those that name a cluster are in `deliver-cluster.ts`.
 */
import { join } from 'node:path';
import { type AwsSession, assumeRole } from '#clouds/aws.ts';
import { CloudProblem, type PrivateHosts } from '#clouds/exchange.ts';
import { logInToVault } from '#clouds/vault.ts';
import type { Cloud, CredentialType, CredentialValue } from '#contract/credentials/kinds.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';

/** A file in the folder for credentials. */
export type DeliveredFile = NonNullable<Job['delivered']>['files'][number];

export interface CredentialDelivery {
  readonly environment: Readonly<Record<string, string>>;
  readonly files: readonly DeliveredFile[];
  /** Result of the exchange, in addition to what the service knows. */
  readonly secrets: readonly string[];
}

export interface DeliveryOptions {
  readonly job: Job;
  /** Absolute path of the folder that the files will be in. */
  readonly folder: string;
  readonly privateHosts: PrivateHosts;
  /** Whether roles may be assumed by the identity of the agent itself. */
  readonly mayUseOwnIdentity: boolean;
  readonly signal: AbortSignal;
}

/** A credential with the fields of its type. */
export type TypedCredential = Omit<RunCredential, 'value'> & { readonly value: CredentialValue };
type Deliver = (
  credential: TypedCredential,
  options: DeliveryOptions,
) => Promise<CredentialDelivery> | CredentialDelivery;

/** Variables of a run that say who it is at a cloud: with one of them, it brings a credential of its own. */
export const ownNames: Readonly<Record<Cloud, readonly string[]>> = {
  aws: [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_PROFILE',
    'AWS_ROLE_ARN',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_CONFIG_FILE',
  ],
  gcp: ['GOOGLE_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_OAUTH_ACCESS_TOKEN'],
  azure: ['ARM_CLIENT_ID', 'ARM_CLIENT_SECRET', 'ARM_CLIENT_CERTIFICATE', 'ARM_OIDC_TOKEN', 'ARM_USE_MSI'],
  vault: ['VAULT_TOKEN'],
  oci: ['OCI_CLI_CONFIG_FILE', 'OCI_CONFIG_FILE', 'TF_VAR_private_key', 'TF_VAR_private_key_path'],
  kubernetes: ['KUBECONFIG', 'KUBE_CONFIG_PATH', 'KUBE_CONFIG_PATHS', 'KUBE_TOKEN'],
};

const withoutSecrets = { secrets: [] } as const;

function awsKeys(
  keys: Pick<AwsSession, 'accessKeyId' | 'secretAccessKey'> & Partial<AwsSession>,
): CredentialDelivery {
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return {
    environment: {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      ...(sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: sessionToken }),
    },
    files: [],
    secrets: [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])],
  };
}

async function awsRole({ value }: TypedCredential, options: DeliveryOptions): Promise<CredentialDelivery> {
  const { job, mayUseOwnIdentity, signal } = options;
  if (value.accessKeyId === undefined && !mayUseOwnIdentity)
    throw new CloudProblem(
      'has no access keys, and this agent does not lend its own identity: add keys, use AWS_OIDC, or set ENVARIUM_AWS_OWN_IDENTITY of the agent',
    );
  const session = await assumeRole(
    { signal },
    {
      value,
      sessionName: `envarium-${job.deploymentId}`,
      externalId: job.organizationId,
      seconds: job.limits.runSeconds + job.limits.abortSeconds,
    },
  );
  return awsKeys(session);
}

function tokenFile(name: string, { token = '' }: TypedCredential): DeliveredFile {
  return { name, content: token };
}

/** Tools renew their sessions by the file. */
function awsByToken(credential: TypedCredential, { job, folder }: DeliveryOptions): CredentialDelivery {
  const name = 'aws-token';
  return {
    environment: {
      AWS_ROLE_ARN: credential.value.roleArn ?? '',
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, name),
      AWS_ROLE_SESSION_NAME: `envarium-${job.deploymentId}`.slice(0, 64),
    },
    files: [tokenFile(name, credential)],
    ...withoutSecrets,
  };
}

function gcpFile(content: string, projectId: unknown, folder: string): CredentialDelivery {
  const name = 'gcp.json';
  const file = join(folder, name);
  const project = typeof projectId === 'string' && projectId !== '' ? projectId : null;
  return {
    environment: {
      GOOGLE_APPLICATION_CREDENTIALS: file,
      CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE: file,
      ...(project === null
        ? {}
        : { GOOGLE_PROJECT: project, GOOGLE_CLOUD_PROJECT: project, CLOUDSDK_CORE_PROJECT: project }),
    },
    files: [{ name, content }],
    ...withoutSecrets,
  };
}

function gcpKey({ value }: TypedCredential, { folder }: DeliveryOptions): CredentialDelivery {
  const { serviceAccountKey = '{}' } = value;
  const key = JSON.parse(serviceAccountKey) as Record<string, unknown>;
  return gcpFile(serviceAccountKey, value.projectId ?? key['project_id'], folder);
}

/** Whatever source the configuration names, the token of this run is used. */
function gcpByToken(credential: TypedCredential, { folder }: DeliveryOptions): CredentialDelivery {
  const { credentialConfigurationFileContent = '{}', projectId } = credential.value;
  const name = 'gcp-token';
  const configuration = {
    ...(JSON.parse(credentialConfigurationFileContent) as object),
    credential_source: { file: join(folder, name), format: { type: 'text' } },
  };
  const { environment, files } = gcpFile(JSON.stringify(configuration), projectId, folder);
  return { environment, files: [...files, tokenFile(name, credential)], ...withoutSecrets };
}

function azureNames({ value }: TypedCredential): Record<string, string> {
  const { clientId = '', subscriptionId = '', tenantId = '' } = value;
  return {
    ARM_CLIENT_ID: clientId,
    ARM_SUBSCRIPTION_ID: subscriptionId,
    ARM_TENANT_ID: tenantId,
    AZURE_CLIENT_ID: clientId,
    AZURE_SUBSCRIPTION_ID: subscriptionId,
    AZURE_TENANT_ID: tenantId,
  };
}

function azurePrincipal(credential: TypedCredential): CredentialDelivery {
  const { clientSecret = '' } = credential.value;
  const environment = {
    ...azureNames(credential),
    ARM_CLIENT_SECRET: clientSecret,
    AZURE_CLIENT_SECRET: clientSecret,
  };
  return { environment, files: [], ...withoutSecrets };
}

function azureByToken(credential: TypedCredential, { folder }: DeliveryOptions): CredentialDelivery {
  const name = 'azure-token';
  const file = join(folder, name);
  return {
    environment: {
      ...azureNames(credential),
      ARM_USE_OIDC: 'true',
      ARM_OIDC_TOKEN_FILE_PATH: file,
      AZURE_FEDERATED_TOKEN_FILE: file,
    },
    files: [tokenFile(name, credential)],
    ...withoutSecrets,
  };
}

async function vaultToken(
  { value, token = '' }: TypedCredential,
  { privateHosts, signal }: DeliveryOptions,
): Promise<CredentialDelivery> {
  const found = await logInToVault({ privateHosts, signal }, value, token);
  return {
    environment: {
      VAULT_ADDR: value.address ?? '',
      VAULT_TOKEN: found,
      ...(value.namespace === undefined ? {} : { VAULT_NAMESPACE: value.namespace }),
    },
    files: [],
    secrets: [found],
  };
}

function ociKey({ value }: TypedCredential, { folder }: DeliveryOptions): CredentialDelivery {
  const { tenancyOcid = '', userOcid = '', fingerprint = '', region = '', privateKey = '' } = value;
  const key = join(folder, 'oci-key.pem');
  const configuration = join(folder, 'oci-config');
  const lines = [
    '[DEFAULT]',
    `user=${userOcid}`,
    `fingerprint=${fingerprint}`,
    `tenancy=${tenancyOcid}`,
    `region=${region}`,
    `key_file=${key}`,
    '',
  ];
  return {
    environment: {
      OCI_CLI_CONFIG_FILE: configuration,
      OCI_CONFIG_FILE: configuration,
      TF_VAR_tenancy_ocid: tenancyOcid,
      TF_VAR_user_ocid: userOcid,
      TF_VAR_fingerprint: fingerprint,
      TF_VAR_private_key_path: key,
      TF_VAR_region: region,
    },
    files: [
      { name: 'oci-key.pem', content: privateKey },
      { name: 'oci-config', content: lines.join('\n') },
    ],
    ...withoutSecrets,
  };
}

/** Variables with which tools find a cluster. @param content of a kubeconfig file */
export function kubernetesFile(
  content: string,
  folder: string,
): Pick<CredentialDelivery, 'environment' | 'files'> {
  const name = 'kubeconfig';
  const file = join(folder, name);
  return { environment: { KUBECONFIG: file, KUBE_CONFIG_PATH: file }, files: [{ name, content }] };
}

const deliveries: Readonly<Partial<Record<CredentialType, Deliver>>> = {
  AWS_ASSUMED_ROLE_FOR_DEPLOYMENT: awsRole,
  AWS_ACCESS_KEYS_FOR_DEPLOYMENT: ({ value: { accessKeyId = '', secretAccessKey = '' } }) =>
    awsKeys({ accessKeyId, secretAccessKey }),
  AWS_OIDC: awsByToken,
  GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT: gcpKey,
  GCP_OIDC: gcpByToken,
  AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT: azurePrincipal,
  AZURE_OIDC: azureByToken,
  VAULT_OIDC: vaultToken,
  OCI_API_KEY_FOR_DEPLOYMENT: ociKey,
  K8S_KUBECONFIG_FILE: ({ value: { kubeConfig = '' } }, { folder }) => ({
    ...kubernetesFile(kubeConfig, folder),
    ...withoutSecrets,
  }),
};

/** @throws CloudProblem, whose message is the end of a sentence; the signal's reason */
export async function deliver(
  credential: RunCredential,
  options: DeliveryOptions,
): Promise<CredentialDelivery> {
  if (credential.problem !== undefined) throw new CloudProblem(credential.problem);
  const make = deliveries[credential.type as CredentialType];
  if (make === undefined)
    throw new CloudProblem(`has the type ${credential.type}, which this agent does not support: update it`);
  return make(credential as TypedCredential, options);
}

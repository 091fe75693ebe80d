/** The types of cloud credentials, and the fields of their values: one table for the service, the agent and the documents. */

/** Target of a credential: a run gets at most one credential of each. */
export const clouds = ['aws', 'gcp', 'azure', 'vault', 'oci', 'kubernetes'] as const;
export type Cloud = (typeof clouds)[number];

export const valueFields = [
  'roleArn',
  'duration',
  'accessKeyId',
  'secretAccessKey',
  'projectId',
  'serviceAccountKey',
  'credentialConfigurationFileContent',
  'tableid',
  'secret',
  'clientId',
  'clientSecret',
  'subscriptionId',
  'tenantId',
  'address',
  'jwtAuthBackendPath',
  'roleName',
  'version',
  'namespace',
  'tenancyOcid',
  'userOcid',
  'fingerprint',
  'privateKey',
  'region',
  'kubeConfig',
  'clusterName',
  'clusterRegion',
  'resourceGroup',
  'computeRegion',
  'tokenFormat',
] as const;
export type ValueField = (typeof valueFields)[number];

export interface CredentialKind {
  readonly cloud: Cloud;
  /** Whether runs get it; the others read costs. */
  readonly isForRuns: boolean;
  /** Whether a run proves itself by a token of the service instead of a stored secret. */
  readonly isOidc?: boolean;
  readonly required: readonly ValueField[];
  readonly optional?: readonly ValueField[];
  /** Fields that published clients send and that mean nothing here. */
  readonly ignored?: readonly ValueField[];
}

const awsRole = {
  cloud: 'aws',
  required: ['roleArn'],
  optional: ['duration', 'accessKeyId', 'secretAccessKey'],
  ignored: ['projectId'],
} as const;
const azurePrincipal = {
  cloud: 'azure',
  required: ['clientId', 'clientSecret', 'subscriptionId', 'tenantId'],
  ignored: ['projectId'],
} as const;

export const credentialKinds = {
  AWS_ASSUMED_ROLE_FOR_DEPLOYMENT: { ...awsRole, isForRuns: true },
  AWS_ACCESS_KEYS_FOR_DEPLOYMENT: {
    cloud: 'aws',
    isForRuns: true,
    required: ['accessKeyId', 'secretAccessKey'],
    ignored: ['projectId'],
  },
  AWS_OIDC: {
    cloud: 'aws',
    isForRuns: true,
    isOidc: true,
    required: ['roleArn'],
    optional: ['tokenFormat'],
    // Tools renew the session of the role.
    ignored: ['duration', 'projectId'],
  },
  GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT: {
    cloud: 'gcp',
    isForRuns: true,
    required: ['serviceAccountKey'],
    optional: ['projectId'],
  },
  GCP_OIDC: {
    cloud: 'gcp',
    isForRuns: true,
    isOidc: true,
    required: ['credentialConfigurationFileContent'],
    optional: ['projectId', 'tokenFormat'],
  },
  AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT: { ...azurePrincipal, isForRuns: true },
  AZURE_OIDC: {
    cloud: 'azure',
    isForRuns: true,
    isOidc: true,
    required: ['clientId', 'subscriptionId', 'tenantId'],
    optional: ['tokenFormat'],
    ignored: ['projectId'],
  },
  VAULT_OIDC: {
    cloud: 'vault',
    isForRuns: true,
    isOidc: true,
    required: ['address', 'jwtAuthBackendPath', 'roleName'],
    optional: ['version', 'namespace', 'tokenFormat'],
  },
  OCI_API_KEY_FOR_DEPLOYMENT: {
    cloud: 'oci',
    isForRuns: true,
    required: ['tenancyOcid', 'userOcid', 'fingerprint', 'privateKey', 'region'],
  },
  K8S_KUBECONFIG_FILE: { cloud: 'kubernetes', isForRuns: true, required: ['kubeConfig'] },
  K8S_EKS_AUTH: { cloud: 'kubernetes', isForRuns: true, required: ['clusterName', 'clusterRegion'] },
  K8S_AZURE_AKS_AUTH: { cloud: 'kubernetes', isForRuns: true, required: ['clusterName', 'resourceGroup'] },
  K8S_GCP_GKE_AUTH: { cloud: 'kubernetes', isForRuns: true, required: ['clusterName', 'computeRegion'] },
  AWS_ASSUMED_ROLE: { ...awsRole, isForRuns: false },
  GCP_CREDENTIALS: { cloud: 'gcp', isForRuns: false, required: ['tableid', 'secret'] },
  AZURE_CREDENTIALS: { ...azurePrincipal, isForRuns: false },
} as const satisfies Readonly<Record<string, CredentialKind>>;

export type CredentialType = keyof typeof credentialKinds;
export const credentialTypes = Object.keys(credentialKinds) as readonly CredentialType[];

/** The facts about a type. */
export function kindOf(type: CredentialType): CredentialKind {
  return credentialKinds[type];
}

/** The forms of a token's subject: v1 names the organization, v2 also project, environment, deployment type and phase. */
export const tokenFormats = ['v1', 'v2'] as const;
export type TokenFormat = (typeof tokenFormats)[number];

/** Value of a credential, without empty fields. */
export type CredentialValue = Readonly<
  Partial<Record<Exclude<ValueField, 'duration' | 'tokenFormat'>, string>>
> & { readonly duration?: number; readonly tokenFormat?: TokenFormat };

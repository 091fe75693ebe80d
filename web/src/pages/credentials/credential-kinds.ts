/** The kinds of cloud credentials as words, and the form of their fields. */
import {
  type CredentialType,
  credentialKinds,
  credentialTypes,
  kindOf,
  type ValueField,
} from '#contract/credentials/kinds.ts';
import type { Reply } from '../../api/queries.ts';

export type ListedCredential = Reply<'listCredentials'>[number];

export const kindNames: Readonly<Record<CredentialType, string>> = {
  AWS_OIDC: 'AWS: role by OIDC, without a stored secret',
  AWS_ASSUMED_ROLE_FOR_DEPLOYMENT: 'AWS: role to assume',
  AWS_ACCESS_KEYS_FOR_DEPLOYMENT: 'AWS: access keys',
  GCP_OIDC: 'Google Cloud: workload identity, without a stored secret',
  GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT: 'Google Cloud: key of a service account',
  AZURE_OIDC: 'Azure: federated application, without a stored secret',
  AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT: 'Azure: service principal',
  VAULT_OIDC: 'Vault: role by OIDC, without a stored secret',
  OCI_API_KEY_FOR_DEPLOYMENT: 'Oracle Cloud: API key',
  K8S_KUBECONFIG_FILE: 'Kubernetes: kubeconfig file',
  K8S_EKS_AUTH: 'Kubernetes: cluster of EKS',
  K8S_AZURE_AKS_AUTH: 'Kubernetes: cluster of AKS',
  K8S_GCP_GKE_AUTH: 'Kubernetes: cluster of GKE',
  AWS_ASSUMED_ROLE: 'AWS: role that reads costs',
  GCP_CREDENTIALS: 'Google Cloud: account that reads costs',
  AZURE_CREDENTIALS: 'Azure: service principal that reads costs',
};

/** Choices for a select, those that runs get first. */
export function kindChoices() {
  const listed = Object.keys(kindNames) as CredentialType[];
  const items = (isForRuns: boolean) =>
    listed
      .filter((type) => credentialTypes.includes(type) && credentialKinds[type].isForRuns === isForRuns)
      .map((value) => ({ value, label: kindNames[value] }));
  return [
    { group: 'For runs', items: items(true) },
    { group: 'For reading costs', items: items(false) },
  ];
}

export interface FieldText {
  readonly label: string;
  readonly hint?: string;
  /** Text over many lines, such as a key file. */
  readonly isDocument?: boolean;
  /** Hidden while it is typed. */
  readonly isSecret?: boolean;
}

export const fieldTexts: Readonly<Record<ValueField, FieldText>> = {
  roleArn: { label: 'Role ARN', hint: 'Such as arn:aws:iam::123456789012:role/deployer' },
  duration: { label: 'Seconds of a session', hint: '900 to 43200. Empty: the longest that the role allows.' },
  accessKeyId: { label: 'Access key id' },
  secretAccessKey: { label: 'Secret access key', isSecret: true },
  projectId: { label: 'Project of Google Cloud', hint: 'Empty: that of the key.' },
  serviceAccountKey: { label: 'Key file of the service account (JSON)', isDocument: true },
  credentialConfigurationFileContent: {
    label: 'Credential configuration (JSON)',
    hint: 'The configuration file of the workload identity pool.',
    isDocument: true,
  },
  tableid: { label: 'Table of the billing export' },
  secret: { label: 'Key file of the account (JSON)', isDocument: true },
  clientId: { label: 'Client id' },
  clientSecret: { label: 'Client secret', isSecret: true },
  subscriptionId: { label: 'Subscription id' },
  tenantId: { label: 'Tenant id' },
  address: { label: 'Address of Vault', hint: 'Such as https://vault.example.com' },
  jwtAuthBackendPath: { label: 'Path of the JWT authentication', hint: 'Such as jwt' },
  roleName: { label: 'Role' },
  version: { label: 'Version of the secrets engine', hint: 'Stored for clients.' },
  namespace: { label: 'Namespace' },
  tenancyOcid: { label: 'OCID of the tenancy' },
  userOcid: { label: 'OCID of the user' },
  fingerprint: { label: 'Fingerprint of the key' },
  privateKey: { label: 'Private key (PEM), without a passphrase', isDocument: true },
  region: { label: 'Region' },
  kubeConfig: { label: 'Kubeconfig file', isDocument: true },
  clusterName: { label: 'Cluster' },
  clusterRegion: { label: 'Region of the cluster', hint: 'Such as eu-west-1' },
  resourceGroup: { label: 'Resource group' },
  computeRegion: { label: 'Region or zone of the cluster' },
  tokenFormat: {
    label: 'Format of the subject',
    hint: 'v1: the organization only. v2: also project, environment, deployment type and phase.',
  },
};

/** Values as they are typed: texts. */
export type TypedValue = Readonly<Partial<Record<ValueField, string>>>;

/** The fields of a kind, those that it needs first. */
export function fieldsOf(type: CredentialType): readonly { field: ValueField; isRequired: boolean }[] {
  const { required, optional = [] } = kindOf(type);
  return [
    ...required.map((field) => ({ field, isRequired: true })),
    ...optional.map((field) => ({ field, isRequired: false })),
  ];
}

/** Value for the service: only fields of the kind, without empty ones. */
export function valueOf(type: CredentialType, typed: TypedValue): Record<string, string | number> {
  const pairs = fieldsOf(type).flatMap(({ field }): [string, string | number][] => {
    const text = typed[field]?.trim() ?? '';
    if (text === '') return [];
    return [[field, field === 'duration' ? Number(text) : text]];
  });
  return Object.fromEntries(pairs);
}

/** Problems by the name of the form's field, found before the request. */
export function problemsOf(type: CredentialType, typed: TypedValue): Record<string, string> {
  const missing = fieldsOf(type).filter(
    ({ field, isRequired }) => isRequired && (typed[field] ?? '').trim() === '',
  );
  const found = Object.fromEntries(
    missing.map(({ field }) => [`value.${field}`, `${fieldTexts[field].label} is required.`]),
  );
  const seconds = typed.duration?.trim() ?? '';
  const isInRange = /^\d+$/.test(seconds) && Number(seconds) >= 900 && Number(seconds) <= 43_200;
  if (type.startsWith('AWS_ASSUMED') && seconds !== '' && !isInRange)
    found['value.duration'] = 'A whole number from 900 to 43200.';
  return found;
}

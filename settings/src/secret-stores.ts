/** Settings about the stores that references such as `${vault:secret/db.password}` read from. */
import { type SecretStoreName, secretStoreNames } from '#protocol/secret-references.ts';
import { type ProcessEnvironment, type SettingTable, setting } from './declaration.ts';
import { count, path, type SettingType, text, webAddress } from './types.ts';

/** References that an agent resolves: names in a store, `*` for any characters. */
export interface AllowedReference {
  readonly store: SecretStoreName;
  readonly pattern: string;
}

const allowedReferences: SettingType<readonly AllowedReference[]> = {
  allowed: `patterns such as ssm:* or vault:apps/{projectId}/*, separated by commas; stores are ${secretStoreNames.join(', ')}`,
  isSecret: false,
  read(value) {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const found = items.map((item): AllowedReference | undefined => {
      const store = secretStoreNames.find((name) => item.startsWith(`${name}:`));
      const pattern = item.slice((store?.length ?? 0) + 1);
      const isKnown = [...pattern.matchAll(/\{([^}]*)\}/g)].every(([, name]) =>
        ['organizationId', 'projectId', 'environmentId'].includes(name ?? ''),
      );
      return store === undefined || pattern === '' || !isKnown ? undefined : { store, pattern };
    });
    const known = found.filter((one) => one !== undefined);
    return known.length === found.length ? known : undefined;
  },
  write: (value) => value.map(({ store, pattern }) => `${store}:${pattern}`).join(','),
};

/** An address with the name of a vault in its host. */
const vaultAddress: SettingType<string> = {
  allowed: 'an http:// or https:// address that contains {vault}',
  isSecret: false,
  read: (value) =>
    value.split('{vault}').length === 2 && webAddress.read(value.replace('{vault}', 'vault')) !== undefined
      ? value.replace(/\/+$/, '')
      : undefined,
  write: String,
};

export const secretStoreSettings = {
  secretReferences: setting({
    name: 'ENVARIUM_SECRET_REFERENCES',
    type: allowedReferences,
    default: '',
    sentence:
      'Which references to secret stores the agent resolves with its own identity when they are the value of a ' +
      'variable, such as ssm:*. * matches any characters; {organizationId}, {projectId} and {environmentId} ' +
      'stand for the ids of the run. Default: none.',
  }),
  secretSeconds: setting({
    name: 'ENVARIUM_SECRET_REFERENCES_TIMEOUT_SECONDS',
    type: count(1, 300),
    default: '20',
    sentence: 'Time within which all references to secret stores of one run must be resolved.',
  }),
  vaultAddress: setting({
    name: 'ENVARIUM_VAULT_ADDRESS',
    type: webAddress,
    sentence: 'Address of the HashiCorp Vault or OpenBao that references ${vault:…} read from.',
  }),
  vaultTokenFile: setting({
    name: 'ENVARIUM_VAULT_TOKEN_FILE',
    type: path,
    sentence: 'File with the token of the agent for Vault; it is read again for each run.',
  }),
  gcpProject: setting({
    name: 'ENVARIUM_GCP_PROJECT',
    type: text,
    sentence:
      'Project in Google Cloud whose Secret Manager references ${gcp:…} read from, unless they name another.',
  }),
  gcpSecretsAddress: setting({
    name: 'ENVARIUM_GCP_SECRETS_ADDRESS',
    type: webAddress,
    default: 'https://secretmanager.googleapis.com',
    sentence: 'Address of Google Secret Manager, for example of one region.',
  }),
  azureVaultAddress: setting({
    name: 'ENVARIUM_AZURE_VAULT_ADDRESS',
    type: vaultAddress,
    default: 'https://{vault}.vault.azure.net',
    sentence: 'Address of Azure Key Vault, with {vault} for the name of the vault.',
  }),
} satisfies SettingTable;

/** Variables by which the clients of the clouds find an identity. */
const identityNames: Readonly<Record<SecretStoreName, RegExp | null>> = {
  ssm: /^(AWS_|HOME$)/,
  vault: null,
  gcp: /^(GOOGLE_APPLICATION_CREDENTIALS|GCE_METADATA_HOST)$/,
  azure: /^AZURE_/,
};

/** Addresses of clouds, also for requests without an identity. */
const addressesOfClouds = /^(AWS_ENDPOINT_URL(_STS|_EKS)?|AZURE_AUTHORITY_HOST)$/;

/** Address of the cluster that a pod runs in; it says nothing about rights there. */
const placeOfCluster = /^KUBERNETES_SERVICE_(HOST|PORT)$/;

/** The part of an environment in which an agent finds its identity for the stores that it may read from. */
export function identityEnvironment(
  environment: ProcessEnvironment,
  allowed: readonly AllowedReference[],
  hasAwsIdentity = false,
): Record<string, string> {
  const patterns = [
    addressesOfClouds,
    placeOfCluster,
    ...allowed.map(({ store }) => identityNames[store]),
    ...(hasAwsIdentity ? [identityNames.ssm] : []),
  ];
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && patterns.some((pattern) => pattern?.test(name)) ? [[name, value]] : [],
    ),
  );
}

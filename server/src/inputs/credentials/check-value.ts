/** Checks the value of a credential: the fields of its type, and the form of each. */
import { createPrivateKey } from 'node:crypto';
import {
  type CredentialType,
  type CredentialValue,
  kindOf,
  type ValueField,
} from '#contract/credentials/kinds.ts';
import { badField } from '../../ground/errors.ts';

type CredentialFields = Readonly<Record<string, unknown>>;
type ValueCheck = (text: string) => string | null;

const matching =
  (pattern: RegExp, expected: string): ValueCheck =>
  (text) =>
    pattern.test(text) ? null : `must be ${expected}`;

const guid = matching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'a GUID, such as 00000000-0000-0000-0000-000000000000',
);
const ocid = matching(/^ocid1\.[\w.-]+$/, 'an OCID, such as ocid1.tenancy.oc1..aaaa');

function jsonOf(text: string): CredentialFields | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as CredentialFields)
      : null;
  } catch {
    return null;
  }
}

/** The key file that Google Cloud creates. */
function serviceAccountKey(text: string): string | null {
  const key = jsonOf(text);
  if (key === null) return 'must be the key file of a service account, which is a JSON object';
  if (key['type'] !== 'service_account') return 'must be a key file with the type "service_account"';
  const missing = ['client_email', 'private_key', 'token_uri'].find((name) => typeof key[name] !== 'string');
  if (missing !== undefined) return `must be a complete key file: ${missing} was not found`;
  const { project_id: project } = key;
  // It becomes a variable of the run.
  return typeof project === 'string' && /\p{Cc}/u.test(project)
    ? 'must be a key file whose project_id has no control characters'
    : null;
}

function isHttps(value: unknown): boolean {
  return typeof value === 'string' && URL.parse(value)?.protocol === 'https:';
}

function workloadIdentity(text: string): string | null {
  const configuration = jsonOf(text);
  if (configuration?.['type'] !== 'external_account')
    return 'must be a credential configuration file, a JSON object with the type "external_account"';
  if (!String(configuration['audience']).startsWith('//iam.googleapis.com/'))
    return 'must have the audience of a workload identity provider, //iam.googleapis.com/...';
  return isHttps(configuration['token_url']) ? null : 'must have a token_url with https';
}

function privateKey(text: string): string | null {
  if (/ENCRYPTED/.test(text)) return 'must be a private key without a passphrase';
  try {
    createPrivateKey(text);
    return null;
  } catch {
    return 'must be a private key (PEM) with real line breaks';
  }
}

function vaultAddress(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return 'must be an http or https address';
  return url.username || url.password || url.search || url.hash
    ? 'must be an address without credentials, query and fragment'
    : null;
}

const kubeConfig: ValueCheck = (text) =>
  /(^|[\s{,"'])clusters["']?\s*:/.test(text) ? null : 'must be a kubeconfig file: "clusters" was not found';

const cloudRegion = matching(/^[a-z0-9-]+$/, 'the name of a region, such as eu-west-1');

const segment = matching(/^[\w./-]+$/, 'made of letters, digits, "_", "-", "." and "/"');

const checks: Readonly<Partial<Record<ValueField, ValueCheck>>> = {
  roleArn: matching(
    /^arn:[a-z-]+:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    'the ARN of a role, such as arn:aws:iam::123456789012:role/deployer',
  ),
  accessKeyId: matching(/^\w{16,128}$/, 'an access key id of 16 to 128 letters and digits'),
  serviceAccountKey,
  secret: serviceAccountKey,
  credentialConfigurationFileContent: workloadIdentity,
  subscriptionId: guid,
  clientId: guid,
  tenantId: guid,
  address: vaultAddress,
  jwtAuthBackendPath: segment,
  tenancyOcid: ocid,
  userOcid: ocid,
  fingerprint: matching(
    /^([0-9a-f]{2}:){15}[0-9a-f]{2}$/i,
    'sixteen pairs of hexadecimal digits with colons',
  ),
  privateKey,
  region: cloudRegion,
  kubeConfig,
  clusterName: matching(/^[A-Za-z0-9][\w-]*$/, 'the name of a cluster: letters, digits, "_" and "-"'),
  clusterRegion: cloudRegion,
  resourceGroup: matching(
    /^[\p{L}\p{N}_().-]*[\p{L}\p{N}_()-]$/u,
    'the name of a resource group: letters, digits, "_", "-", "(", ")" and "."',
  ),
  computeRegion: cloudRegion,
};

/** Documents of several lines. */
const documents: readonly ValueField[] = [
  'serviceAccountKey',
  'credentialConfigurationFileContent',
  'secret',
  'privateKey',
  'kubeConfig',
];

/** Keys belong together. */
function requireBothKeys(type: CredentialType, value: CredentialFields): void {
  const pair = ['accessKeyId', 'secretAccessKey'] as const;
  const missing = pair.filter((field) => value[field] === undefined);
  if (missing.length === 1)
    throw badField(
      `body.value.${missing[0]}`,
      `is required in a credential of type ${type} that has the other half of the key`,
    );
}

/**
 * Checks what a request says. The form of the fields is checked when they are used: published clients store
 * values that are filled in later.
 * @param requested the value of a request
 * @returns the fields of the type that have a value
 * @throws Refusal 400 that names the first wrong field, and never repeats what it contains
 */
export function checkedValue(type: CredentialType, requested: CredentialFields): CredentialValue {
  const { required, optional = [], ignored = [] } = kindOf(type);
  const filled = Object.entries(requested).filter(([, value]) => value !== '' && value !== null);
  const value: CredentialFields = Object.fromEntries(
    filled.filter(([field]) => !ignored.includes(field as ValueField)),
  );
  for (const field of required)
    if (value[field] === undefined)
      throw badField(`body.value.${field}`, `is required in a credential of type ${type}`);
  for (const [field, content] of Object.entries(value)) {
    if (![...required, ...optional].includes(field as ValueField))
      throw badField(`body.value.${field}`, `does not belong to a credential of type ${type}`);
    const isText = typeof content === 'string' && !documents.includes(field as ValueField);
    if (isText && /\p{Cc}/u.test(content))
      throw badField(`body.value.${field}`, 'must be a text without line breaks and control characters');
  }
  requireBothKeys(type, value);
  return value as CredentialValue;
}

/** @returns a sentence about the first field whose form no cloud accepts, without its content; null: none */
export function formProblem(value: CredentialValue): string | null {
  for (const [field, content] of Object.entries(value)) {
    const problem = typeof content === 'string' ? checks[field as ValueField]?.(content) : null;
    if (problem) return `${field} ${problem}`;
  }
  return null;
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { CloudProblem } from '#clouds/exchange.ts';
import type { CredentialType } from '#contract/credentials/kinds.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import { startAwsServer, withAwsServer } from '../../testing/secret-stores/aws-server.ts';
import { credentialDeliverer } from './deliver-credentials.ts';
import { type DeliveryOptions, deliver } from './delivery.ts';

const roleArn = 'arn:aws:iam::123456789012:role/deployer';
const folder = '/srv/runs/environment/credentials';
const job = {
  organizationId: 'organization-1',
  environmentId: 'environment',
  deploymentId: '0190b1de-0000-7000-8000-000000000000',
  type: 'deploy',
  limits: { runSeconds: 18_000, abortSeconds: 60 },
  variables: { environment: [], terraform: [] },
  systemVariables: {},
  secrets: [],
} as unknown as Job;
const options: DeliveryOptions = {
  job,
  folder,
  privateHosts: new Set(),
  mayUseOwnIdentity: false,
  signal: new AbortController().signal,
};
const credential = (type: CredentialType | 'NEWER', value: object, token?: string): RunCredential => ({
  id: 'id',
  name: 'deployer',
  type,
  version: 'version',
  value: { ...(value as RunCredential['value']) },
  ...(token === undefined ? {} : { token }),
});

async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => answer(request, body, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As tools of these clouds read them. */
const shapes: [CredentialType, object, Record<string, string>, Record<string, RegExp>][] = [
  [
    'AWS_ACCESS_KEYS_FOR_DEPLOYMENT',
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted' },
    { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 'planted' },
    {},
  ],
  [
    'AWS_OIDC',
    { roleArn },
    {
      AWS_ROLE_ARN: roleArn,
      AWS_WEB_IDENTITY_TOKEN_FILE: `${folder}/aws-token`,
      AWS_ROLE_SESSION_NAME: `envarium-${job.deploymentId}`,
    },
    { 'aws-token': /^jwt$/ },
  ],
  [
    'GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT',
    { serviceAccountKey: '{"type":"service_account","project_id":"shop"}' },
    {
      GOOGLE_APPLICATION_CREDENTIALS: `${folder}/gcp.json`,
      CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE: `${folder}/gcp.json`,
      GOOGLE_PROJECT: 'shop',
      GOOGLE_CLOUD_PROJECT: 'shop',
      CLOUDSDK_CORE_PROJECT: 'shop',
    },
    { 'gcp.json': /service_account/ },
  ],
  [
    'GCP_OIDC',
    {
      credentialConfigurationFileContent:
        '{"type":"external_account","credential_source":{"executable":{"command":"/bin/sh"}}}',
    },
    {
      GOOGLE_APPLICATION_CREDENTIALS: `${folder}/gcp.json`,
      CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE: `${folder}/gcp.json`,
    },
    {
      'gcp.json':
        /^\{"type":"external_account","credential_source":\{"file":"\/srv\/runs\/environment\/credentials\/gcp-token","format":\{"type":"text"\}\}\}$/,
      'gcp-token': /^jwt$/,
    },
  ],
  [
    'AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT',
    { clientId: 'c', clientSecret: 'planted', subscriptionId: 's', tenantId: 't' },
    {
      ARM_CLIENT_ID: 'c',
      ARM_CLIENT_SECRET: 'planted',
      ARM_SUBSCRIPTION_ID: 's',
      ARM_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_CLIENT_SECRET: 'planted',
      AZURE_SUBSCRIPTION_ID: 's',
      AZURE_TENANT_ID: 't',
    },
    {},
  ],
  [
    'AZURE_OIDC',
    { clientId: 'c', subscriptionId: 's', tenantId: 't' },
    {
      ARM_CLIENT_ID: 'c',
      ARM_SUBSCRIPTION_ID: 's',
      ARM_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_SUBSCRIPTION_ID: 's',
      AZURE_TENANT_ID: 't',
      ARM_USE_OIDC: 'true',
      ARM_OIDC_TOKEN_FILE_PATH: `${folder}/azure-token`,
      AZURE_FEDERATED_TOKEN_FILE: `${folder}/azure-token`,
    },
    { 'azure-token': /^jwt$/ },
  ],
  [
    'OCI_API_KEY_FOR_DEPLOYMENT',
    { tenancyOcid: 't', userOcid: 'u', fingerprint: 'f', region: 'r', privateKey: 'planted' },
    {
      OCI_CLI_CONFIG_FILE: `${folder}/oci-config`,
      OCI_CONFIG_FILE: `${folder}/oci-config`,
      TF_VAR_tenancy_ocid: 't',
      TF_VAR_user_ocid: 'u',
      TF_VAR_fingerprint: 'f',
      TF_VAR_private_key_path: `${folder}/oci-key.pem`,
      TF_VAR_region: 'r',
    },
    {
      'oci-key.pem': /^planted$/,
      'oci-config': /key_file=\/srv\/runs\/environment\/credentials\/oci-key\.pem\n/,
    },
  ],
  [
    'K8S_KUBECONFIG_FILE',
    { kubeConfig: 'clusters: []' },
    { KUBECONFIG: `${folder}/kubeconfig`, KUBE_CONFIG_PATH: `${folder}/kubeconfig` },
    { kubeconfig: /^clusters: \[\]$/ },
  ],
];

test('each type becomes the variables and files that its tools read', async () => {
  for (const [type, value, environment, files] of shapes) {
    const delivery = await deliver(credential(type, value, 'jwt'), options);
    assert.deepEqual(delivery.environment, environment, type);
    assert.deepEqual(delivery.files.map(({ name }) => name).sort(), Object.keys(files).sort(), type);
    for (const { name, content } of delivery.files) assert.match(content, files[name] ?? /never/, type);
  }
});

test(
  'a role is assumed with the keys of the credential, for as long as AWS allows',
  withAwsServer(),
  async (t) => {
    await using aws = await startAwsServer();
    const before = { ...process.env };
    Object.assign(process.env, aws.environment);
    t.after(() => (process.env = before));
    const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted' };
    const type = 'AWS_ASSUMED_ROLE_FOR_DEPLOYMENT';
    const { environment, secrets } = await deliver(credential(type, { roleArn, ...keys }), options);
    assert.deepEqual(Object.keys(environment), [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
    ]);
    assert.match(environment['AWS_ACCESS_KEY_ID'] ?? '', /^ASIA/);
    assert.deepEqual(secrets, [environment['AWS_SECRET_ACCESS_KEY'], environment['AWS_SESSION_TOKEN']]);
    const own = credential(type, { roleArn, duration: 900 });
    await assert.rejects(async () => deliver(own, options), /ENVARIUM_AWS_OWN_IDENTITY/);
    const lent = await deliver(own, { ...options, mayUseOwnIdentity: true });
    assert.match(lent.environment['AWS_ACCESS_KEY_ID'] ?? '', /^ASIA/);
  },
);

test('a role that allows an hour is assumed for an hour, unless the credential says how long', async (t) => {
  const requests: string[] = [];
  const host = await serve(t, (_request, body, response) => {
    const form = new URLSearchParams(body);
    requests.push(`${form.get('DurationSeconds')} ${form.get('ExternalId')}`);
    response
      .writeHead(400, { 'content-type': 'text/xml' })
      .end(
        `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>The requested DurationSeconds exceeds the MaxSessionDuration set for this role.</Message></Error></ErrorResponse>`,
      );
  });
  const before = { ...process.env };
  process.env.AWS_ENDPOINT_URL_STS = `http://${host}`;
  t.after(() => (process.env = before));
  const value = { roleArn, accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted' };
  const type = 'AWS_ASSUMED_ROLE_FOR_DEPLOYMENT';
  await assert.rejects(
    async () => deliver(credential(type, value), options),
    /refused by AWS: The requested/,
  );
  await assert.rejects(
    async () => deliver(credential(type, { ...value, duration: 7200 }), options),
    CloudProblem,
  );
  assert.deepEqual(requests, ['18060 organization-1', '3600 organization-1', '7200 organization-1']);
});

test('a token is exchanged at Vault, whose refusal is shown without the token', async (t) => {
  const calls: unknown[] = [];
  let status = 200;
  const host = await serve(t, ({ url, headers }, body, response) => {
    calls.push([url, headers['x-vault-namespace'], JSON.parse(body)]);
    const answer =
      status === 200 ? { auth: { client_token: 'hvs.planted' } } : { errors: ['role "r" not found'] };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const value = { address: `http://${host}`, jwtAuthBackendPath: '/jwt/', roleName: 'r', namespace: 'team' };
  const vault = credential('VAULT_OIDC', value, 'jwt-of-the-run');
  await assert.rejects(async () => deliver(vault, options), /ENVARIUM_CREDENTIAL_PRIVATE_HOSTS/);
  assert.deepEqual(calls, []);
  const trusted = { ...options, privateHosts: new Set([host]) };
  const { environment, secrets } = await deliver(vault, trusted);
  assert.deepEqual(environment, {
    VAULT_ADDR: `http://${host}`,
    VAULT_TOKEN: 'hvs.planted',
    VAULT_NAMESPACE: 'team',
  });
  assert.deepEqual(secrets, ['hvs.planted']);
  assert.deepEqual(calls, [['/v1/auth/jwt/login', 'team', { role: 'r', jwt: 'jwt-of-the-run' }]]);
  status = 400;
  await assert.rejects(async () => deliver(vault, trusted), {
    message: 'was refused by Vault with status 400: role "r" not found',
  });
});

test('a credential that cannot be delivered fails the run by its name, and own variables take its place', async () => {
  const make = credentialDeliverer({
    workFolder: '/srv/runs',
    privateHosts: new Set(),
    mayUseOwnIdentity: false,
    addresses: { azureManagement: '', gke: '' },
  });
  const unusable: RunCredential = {
    ...credential('AWS_OIDC', {}),
    problem: 'cannot be used: its roleArn is invalid',
  };
  const credentials = [unusable, credential('NEWER', {})];
  const failing = await make({ ...job, credentials }, options.signal);
  assert.deepEqual(failing.resolution?.failures, [
    'Credential "deployer" cannot be used: its roleArn is invalid',
    'Credential "deployer" has the type NEWER, which this agent does not support: update it',
  ]);
  assert.equal(failing.credentials, undefined);
  const variables = { environment: [{ name: 'AWS_PROFILE', value: 'p', isSensitive: false }], terraform: [] };
  const own = await make({ ...job, variables, credentials: [unusable] }, options.signal);
  assert.deepEqual(own.resolution, {
    failures: [],
    warnings: ['Credential "deployer" is not used: the variable AWS_PROFILE takes its place'],
  });
  assert.deepEqual(own.delivered?.environment, {});
  assert.equal(await make(job, options.signal), job);
});

test('a key file whose project would hold a zero character fails the run without its contents', async () => {
  const make = credentialDeliverer({
    workFolder: '/srv/runs',
    privateHosts: new Set(),
    mayUseOwnIdentity: false,
    addresses: { azureManagement: '', gke: '' },
  });
  const serviceAccountKey = JSON.stringify({ type: 'service_account', project_id: 'planted\0--bind' });
  const credentials = [credential('GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT', { serviceAccountKey })];
  const failing = await make({ ...job, credentials }, options.signal);
  assert.deepEqual(failing.resolution?.failures, [
    'Credential "deployer" cannot be used: GOOGLE_PROJECT would hold a zero character',
  ]);
  assert.deepEqual(failing.delivered, { environment: {}, files: [], versions: ['version'] });
});

test('that kubeconfig files may start programs reaches every run of an agent that allows it', async () => {
  const make = (mayStartPrograms: boolean) =>
    credentialDeliverer({
      workFolder: folder,
      privateHosts: new Set(),
      mayUseOwnIdentity: false,
      mayStartPrograms,
      addresses: { azureManagement: '', gke: '' },
    });
  const keys = credential('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', { accessKeyId: 'a', secretAccessKey: 'b' });
  for (const credentials of [[], [keys]]) {
    const allowed = await make(true)({ ...job, credentials }, options.signal);
    assert.equal(allowed.delivered?.mayStartPrograms, true);
    const refused = await make(false)({ ...job, credentials }, options.signal);
    assert.equal(refused.delivered?.mayStartPrograms, undefined);
  }
});

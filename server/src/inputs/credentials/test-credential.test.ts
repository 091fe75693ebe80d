import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { CredentialType } from '#contract/credentials/kinds.ts';
import { startAwsServer, withAwsServer } from '../../../../agent/testing/secret-stores/aws-server.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';

const roleArn = 'arn:aws:iam::123456789012:role/deployer';
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted' };
let names = 0;

async function tester(settings: Record<string, string> = {}) {
  const app = await testApp({ ENVARIUM_BASE_URL: 'https://envarium.example', ...settings });
  const { organizationId } = app;
  return {
    app,
    organizationId,
    result: async (type: CredentialType, value: object) => {
      const body = { organizationId, name: `${++names}`, type, value };
      const { id } = await ok(app, 'createCredential', { body });
      return ok(app, 'testCredential', { id });
    },
  };
}

async function withAws(t: TestContext): Promise<AsyncDisposable> {
  const aws = await startAwsServer();
  const before = { ...process.env };
  process.env.AWS_ENDPOINT_URL = aws.environment.AWS_ENDPOINT_URL;
  t.after(() => (process.env = before));
  return aws;
}

test('AWS checks keys, roles and tokens of the service', withAwsServer(), async (t) => {
  await using _aws = await withAws(t);
  const { result } = await tester();
  const works = async (type: CredentialType, value: object, message: RegExp) => {
    const found = await result(type, value);
    assert.deepEqual([found.isTested, found.isOk], [true, true], found.message);
    assert.match(found.message, message);
  };
  await works('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys, /^It works: AWS says that it is arn:aws:/);
  const assumed = /arn:aws:sts::123456789012:assumed-role\/deployer\/envarium-test/;
  await works('AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn, ...keys }, assumed);
  await works('AWS_OIDC', { roleArn }, assumed);
});

test('Vault is called with a token of the service, which is revoked', async (t) => {
  const calls: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url);
    const answers: Record<string, object> = {
      '/v1/auth/jwt/login': { auth: { client_token: 'hvs.planted' } },
      '/v1/auth/token/lookup-self': { data: { policies: ['default', 'deployer'] } },
      '/v1/auth/token/revoke-self': {},
    };
    const answer = answers[request.url ?? ''];
    response
      .writeHead(answer === undefined ? 403 : 200)
      .end(JSON.stringify(answer ?? { errors: ['denied'] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const value = { address: `http://${host}`, jwtAuthBackendPath: 'jwt', roleName: 'r' };
  const hidden = await tester();
  const guarded = await hidden.result('VAULT_OIDC', value);
  assert.deepEqual([guarded.isTested, guarded.isOk, calls.length], [true, false, 0]);
  assert.match(guarded.message, /ENVARIUM_CREDENTIAL_PRIVATE_HOSTS/);
  const { result } = await tester({ ENVARIUM_CREDENTIAL_PRIVATE_HOSTS: host });
  assert.deepEqual(await result('VAULT_OIDC', value), {
    isTested: true,
    isOk: true,
    message: 'It works: Vault accepts it, with the policies default, deployer.',
  });
  assert.equal(calls.at(-1), '/v1/auth/token/revoke-self');
  assert.deepEqual(await result('VAULT_OIDC', { ...value, jwtAuthBackendPath: 'other' }), {
    isTested: true,
    isOk: false,
    message: 'It was refused by Vault with status 403: denied.',
  });
});

test('the server of a kubeconfig file tells its version, and nothing that the file names is read or run', async (t) => {
  const server = createServer(({ url, headers }, response) => {
    const isKnown = url === '/version' && headers.authorization === 'Bearer planted';
    response.writeHead(isKnown ? 200 : 401).end('{"gitVersion":"v1.36.3"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { result } = await tester({ ENVARIUM_CREDENTIAL_PRIVATE_HOSTS: host });
  const file = (user: string, cluster = '') => ({
    kubeConfig: [
      'current-context: c',
      'contexts: [{name: c, context: {cluster: k, user: u}}]',
      `clusters: [{name: k, cluster: {server: "http://${host}"${cluster}}}]`,
      `users: [{name: u, user: {${user}}}]`,
    ].join('\n'),
  });
  const type = 'K8S_KUBECONFIG_FILE';
  assert.deepEqual(await result(type, file('token: planted')), {
    isTested: true,
    isOk: true,
    message: 'It works: the server accepts it, and has the version v1.36.3.',
  });
  const wrong = await result(type, file('token: other'));
  assert.deepEqual([wrong.isTested, wrong.isOk], [true, false]);
  assert.match(wrong.message, /status 401/);
  for (const user of ['exec: {command: /bin/true}', 'tokenFile: /etc/passwd']) {
    const { isTested, message } = await result(type, file(user));
    assert.deepEqual([isTested, /which only runs can use/.test(message)], [false, true], message);
  }
  assert.equal((await result(type, file('', ', certificate-authority: /etc/passwd'))).isTested, false);
  assert.match((await result(type, { kubeConfig: 'clusters: [}' })).message, /cannot be read as YAML/);
});

test('where the service cannot ask, it says so', async () => {
  const { app, result } = await tester();
  assert.deepEqual(await result('K8S_EKS_AUTH', { clusterName: 'c', clusterRegion: 'r' }), {
    isTested: false,
    isOk: true,
    message:
      'Only its form was checked: a run finds the cluster by its credential of the cloud, and there is none: deploy an environment.',
  });
  const key = { type: 'service_account', client_email: 'e', private_key: 'p', token_uri: 'u' };
  const serviceAccountKey = JSON.stringify({ ...key, project_id: 'planted\0' });
  for (const [type, value, problem] of [
    ['GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT', { serviceAccountKey }, /project_id has no control characters/],
    ['K8S_EKS_AUTH', { clusterName: 'c', clusterRegion: 'planted.example.com/' }, /clusterRegion must be/],
    ['K8S_AZURE_AKS_AUTH', { clusterName: '..', resourceGroup: 'shop' }, /clusterName must be/],
    ['K8S_AZURE_AKS_AUTH', { clusterName: 'c', resourceGroup: '..' }, /resourceGroup must be/],
    ['K8S_GCP_GKE_AUTH', { clusterName: 'c', computeRegion: 'a/b' }, /computeRegion must be/],
  ] as const)
    assert.match((await result(type, value)).message, problem);
  const invalid = await result('AWS_OIDC', { roleArn: 'planted' });
  assert.deepEqual([invalid.isTested, invalid.isOk], [false, false]);
  assert.match(invalid.message, /^It cannot be used: its roleArn must be/);
  assert.match((await result('AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn })).message, /own identity/);
  assert.match((await result('AWS_OIDC', { roleArn, tokenFormat: 'v2' })).message, /names a run/);
  const { rows } = await app.database.pool.query(
    "select * from audit_event where action = 'credential.tested'",
  );
  assert.equal(rows.length, 9);
});

test('a credential of the organization is tested only by those who may change it', async () => {
  const { app, organizationId } = await tester();
  const role = ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS'] as const;
  const { projectId } = app;
  const as = await app.addKey({ [organizationId]: 'User' }, [{ organizationId, projectId, role }]);
  const body = { organizationId, name: 'all', type: 'AWS_OIDC', value: { roleArn } } as const;
  const { id } = await ok(app, 'createCredential', { body });
  await refused(app, 'testCredential', 403, { as, id });
});

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import type { CredentialType } from '#contract/credentials/kinds.ts';
import type { Reply } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { agent, organizationId, ok, refused, sql, add, keyFor, createEnvironment, forgetWork } = tests;
const project = (name: string, parentProjectId?: string) => add('Project', name, { parentProjectId });
const root = await project('root');
const middle = await project('middle', root.id);
const leaf = await project('leaf', middle.id);
const other = await project('other');

const roleArn = 'arn:aws:iam::123456789012:role/deployer';
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'planted-secret-access-key' };
let names = 0;
const create = (type: CredentialType, value: object, place: object = { organizationId }) =>
  ok('createCredential', { body: { name: `credential ${++names}`, type, value, ...place } });
const assign = (credentialId: string, { id: projectId }: { id: string }) =>
  ok('assignCredential', { params: { credentialId, projectId } });
const unassign = (credentialId: string, { id: projectId }: { id: string }) =>
  ok('unassignCredential', { params: { credentialId, projectId } });

async function claimedIn({ id: projectId }: { id: string }) {
  await createEnvironment({ projectId });
  const job = await agent.claim();
  await forgetWork();
  return job;
}

test('a credential is listed, shown and changed, and its value never returned', async () => {
  const created = await create('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', { ...keys, roleArn: '' });
  const { createdByUser, createdAt, updatedAt, ...rest } = created;
  assert.deepEqual(rest, {
    id: created.id,
    name: created.name,
    organizationId,
    type: 'AWS_ACCESS_KEYS_FOR_DEPLOYMENT',
    value: null,
  });
  assert.deepEqual([createdByUser?.user_id, createdAt], ['admin', updatedAt]);
  assert.deepEqual(await ok('getCredential', { id: created.id }), created);
  const ofProject = await create('AWS_OIDC', { roleArn }, { projectId: leaf.id });
  assert.equal(ofProject.projectId, leaf.id);
  const listed = await ok('listCredentials', { query: { organizationId } });
  assert.deepEqual(fieldOf(listed.slice(0, 2), 'id'), [ofProject.id, created.id]);
  const changed = await ok('updateCredential', {
    id: created.id,
    body: { organizationId, name: 'renamed', type: 'AWS_OIDC', value: { roleArn, tokenFormat: 'v2' } },
  });
  assert.deepEqual([changed.name, changed.type, changed.value], ['renamed', 'AWS_OIDC', null]);
  await ok('deleteCredential', { id: created.id });
  await refused('getCredential', 404, { id: created.id });
  const audit = JSON.stringify(await sql('select * from audit_event'));
  assert.match(audit, /credential\.deleted/);
  assert.doesNotMatch(audit, /planted-secret/);
  const stored = JSON.stringify(await sql('select * from credential'));
  assert.doesNotMatch(stored, /planted-secret/);
});

test('a value needs the fields of its type, and has no others', async () => {
  const cases: [CredentialType, object, string][] = [
    ['AWS_OIDC', {}, '/body/value/roleArn'],
    ['AWS_OIDC', { roleArn: '' }, '/body/value/roleArn'],
    [
      'AWS_ACCESS_KEYS_FOR_DEPLOYMENT',
      { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
      '/body/value/secretAccessKey',
    ],
    ['AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn, accessKeyId: 'x' }, '/body/value/secretAccessKey'],
    ['AWS_ASSUMED_ROLE_FOR_DEPLOYMENT', { roleArn, duration: 10 }, '/body/value/duration'],
    ['AWS_OIDC', { roleArn, kubeConfig: 'clusters: []' }, '/body/value/kubeConfig'],
    ['AWS_OIDC', { roleArn, colour: 'red' }, '/body/value'],
    ['AWS_OIDC', { roleArn, tokenFormat: 'v3' }, '/body/value/tokenFormat'],
    ['AWS_OIDC', { roleArn: 'a\nb' }, '/body/value/roleArn'],
    ['AZURE_OIDC', { clientId: 'a', subscriptionId: 'b' }, '/body/value/tenantId'],
    ['GCP_OIDC', { projectId: 'p' }, '/body/value/credentialConfigurationFileContent'],
    ['VAULT_OIDC', { address: 'https://vault.example' }, '/body/value/jwtAuthBackendPath'],
    ['OCI_API_KEY_FOR_DEPLOYMENT', { tenancyOcid: 't' }, '/body/value/userOcid'],
    ['K8S_KUBECONFIG_FILE', { clusterName: 'c' }, '/body/value/kubeConfig'],
    ['GCP_CREDENTIALS', { tableid: 't' }, '/body/value/secret'],
  ];
  for (const [type, value, field] of cases) {
    const body = { organizationId, name: 'wrong', type, value };
    const { message } = await refused('createCredential', 400, { body });
    assert.ok(message.startsWith(field), `${type}: ${message}`);
  }
});

test('a name is unique in an organization', async () => {
  const { name, id } = await create('AWS_OIDC', { roleArn });
  const body = { organizationId, name, type: 'AWS_OIDC', value: { roleArn } } as const;
  await refused('createCredential', 409, new RegExp(`"${name}"`), { body });
  const second = await create('AWS_OIDC', { roleArn });
  await refused('updateCredential', 409, { id: second.id, body: { name } });
  await ok('updateCredential', { id, body: { name } });
});

test('a credential stays where it is, and needs a value for another type', async () => {
  const { id } = await create('AWS_OIDC', { roleArn });
  const update = (body: object) => refused('updateCredential', 400, { id, body });
  assert.match((await update({ projectId: leaf.id })).message, /\/body\/projectId/);
  assert.match((await update({ organizationId: leaf.id })).message, /\/body\/organizationId/);
  assert.match((await update({ type: 'AZURE_OIDC' })).message, /\/body\/value/);
  const both = { organizationId, projectId: leaf.id, name: 'both', type: 'AWS_OIDC', value: { roleArn } };
  await refused('createCredential', 400, /\/body\/projectId/, { body: both });
});

test('a credential that is assigned cannot be deleted, and the refusal names the projects', async () => {
  const { id, name } = await create('AWS_OIDC', { roleArn });
  const assignment = await assign(id, other);
  assert.deepEqual(
    [assignment.credentialId, assignment.projectId, assignment.createdByUserId],
    [id, other.id, 'admin'],
  );
  assert.deepEqual(await assign(id, other), assignment);
  await refused('deleteCredential', 409, new RegExp(`"${name}" is assigned to "other"`), { id });
  await unassign(id, other);
  await refused('unassignCredential', 404, { params: { credentialId: id, projectId: other.id } });
  await ok('deleteCredential', { id });
});

test('for each cloud, runs get the credential of the nearest project, and the newest of several there', async () => {
  const far = await create('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys);
  const near = await create('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', { ...keys, secretAccessKey: 'planted-near' });
  const kube = await create('K8S_KUBECONFIG_FILE', {
    kubeConfig: 'apiVersion: v1\nclusters: []\nusers: [{name: u, user: {token: planted-kubernetes}}]\n',
  });
  await assign(far.id, root);
  await assign(kube.id, root);
  await assign(near.id, middle);
  const get = ({ id: projectId }: { id: string }): Promise<Reply<'listProjectCredentials'>> =>
    ok('listProjectCredentials', { params: { projectId } });
  const ofLeaf = await get(leaf);
  assert.deepEqual(ofLeaf.credentialIds, []);
  assert.deepEqual(ofLeaf.effective, [
    { credentialId: near.id, projectId: middle.id, cloud: 'aws' },
    { credentialId: kube.id, projectId: root.id, cloud: 'kubernetes' },
  ]);
  const job = await claimedIn(leaf);
  assert.deepEqual(
    job.credentials?.map(({ id, type, value }) => [id, type, Object.keys(value)]),
    [
      [near.id, 'AWS_ACCESS_KEYS_FOR_DEPLOYMENT', ['accessKeyId', 'secretAccessKey']],
      [kube.id, 'K8S_KUBECONFIG_FILE', ['kubeConfig']],
    ],
  );
  assert.ok(job.secrets.includes('planted-near'));
  assert.ok(job.secrets.includes('planted-kubernetes'));
  assert.ok(!job.secrets.some((secret) => secret.includes('apiVersion')));
  assert.equal((await claimedIn(root)).credentials?.[0]?.id, far.id);
  assert.equal((await claimedIn(other)).credentials, undefined);
  const second = await create('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys);
  await assign(second.id, middle);
  assert.deepEqual((await get(middle)).credentialIds, [second.id, near.id]);
  assert.equal((await claimedIn(leaf)).credentials?.[0]?.id, second.id);
  for (const [{ id }, from] of [
    [far, root],
    [kube, root],
    [near, middle],
    [second, middle],
  ] as const)
    await unassign(id, from);
});

test('a credential of a project is for that one and those below, also after they were moved', async () => {
  const { id, name } = await create('AWS_ACCESS_KEYS_FOR_DEPLOYMENT', keys, { projectId: middle.id });
  const params = { credentialId: id, projectId: other.id };
  await refused('assignCredential', 409, new RegExp(`"${name}" belongs to another project`), { params });
  await assign(id, leaf);
  assert.equal((await claimedIn(leaf)).credentials?.[0]?.id, id);
  await ok('moveProject', { id: leaf.id, body: { targetProjectId: other.id } });
  assert.equal((await claimedIn(leaf)).credentials, undefined);
});

test('credentials for costs and those of other organizations cannot be assigned', async () => {
  const cost = await create('AWS_ASSUMED_ROLE', { roleArn });
  const costParams = { credentialId: cost.id, projectId: other.id };
  await refused('assignCredential', 409, /for reading costs/, { params: costParams });
  const { id: elsewhere } = await ok('createOrganization', { body: { name: 'Elsewhere' } });
  const foreign = await create('AWS_OIDC', { roleArn }, { organizationId: elsewhere });
  const params = { credentialId: foreign.id, projectId: other.id };
  await refused('assignCredential', 404, { params });
  await refused('unassignCredential', 404, { params });
});

test('people who manage a project handle its own credentials, and not those of the organization', async () => {
  const role = ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS'] as const;
  const as = await keyFor(role, { projectId: other.id });
  const value = { roleArn };
  const type = 'AWS_OIDC';
  const own = await ok('createCredential', { as, body: { projectId: other.id, name: 'own', type, value } });
  await ok('updateCredential', { as, id: own.id, body: { value } });
  const params = { credentialId: own.id, projectId: other.id };
  await ok('assignCredential', { as, params });
  await ok('unassignCredential', { as, params });
  await ok('deleteCredential', { as, id: own.id });
  const body = { organizationId, name: 'all', type, value } as const;
  await refused('createCredential', 403, { as, body });
  const wide = await create('AWS_OIDC', value);
  await refused('updateCredential', 403, { as, id: wide.id, body: { value } });
  await refused('deleteCredential', 403, { as, id: wide.id });
  const assignment = { credentialId: wide.id, projectId: other.id };
  await refused('assignCredential', 403, { as, params: assignment });
  await ok('assignCredential', { params: assignment });
  await ok('unassignCredential', { as, params: assignment });
});

test('a value of the wrong form is stored with a warning, and its runs learn why they cannot use it', async () => {
  const encrypted = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' },
  }).privateKey;
  const oci = {
    tenancyOcid: 'ocid1.tenancy.oc1..a',
    userOcid: 'ocid1.user.oc1..a',
    fingerprint: Array.from({ length: 16 }, () => 'ab').join(':'),
    region: 'eu-frankfurt-1',
  };
  const azure = { clientSecret: 'planted', subscriptionId: roleArn, tenantId: roleArn };
  const vault = { jwtAuthBackendPath: 'jwt', roleName: 'r' };
  const cases: [CredentialType, object, RegExp][] = [
    ['AWS_OIDC', { roleArn: 'the role comes later' }, /roleArn must be the ARN/],
    ['GCP_SERVICE_ACCOUNT_FOR_DEPLOYMENT', { serviceAccountKey: 'planted' }, /serviceAccountKey must be/],
    ['GCP_OIDC', { credentialConfigurationFileContent: '{}' }, /external_account/],
    ['AZURE_SERVICE_PRINCIPAL_FOR_DEPLOYMENT', { clientId: 'planted', ...azure }, /clientId must be a GUID/],
    ['VAULT_OIDC', { address: 'file:///etc/passwd', ...vault }, /address must be an http/],
    ['OCI_API_KEY_FOR_DEPLOYMENT', { ...oci, privateKey: encrypted }, /without a passphrase/],
    ['K8S_KUBECONFIG_FILE', { kubeConfig: 'planted' }, /kubeconfig/],
  ];
  for (const [type, value, problem] of cases) {
    const { id } = await create(type, value);
    await assign(id, other);
    const [credential] = (await claimedIn(other)).credentials ?? [];
    assert.match(credential?.problem ?? '', problem);
    assert.deepEqual(credential?.value, {});
    assert.doesNotMatch(credential?.problem ?? '', /planted|passwd/);
    await unassign(id, other);
  }
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, projectId, call, ok, refused, sql, add } = await startTests();
const params = { projectId };
const role = { roleArn: 'arn:aws:iam::123456789012:role/costs' };

const newCredential = async (name: string, more: object = {}) =>
  (await add('Credential', name, { type: 'AWS_ASSUMED_ROLE', value: role, ...more })).id;
const newProject = async (name: string, more: object = {}) => (await add('Project', name, more)).id;
const assign = (credentialsId: string, id = projectId) =>
  ok('assignCostCredential', { params: { projectId: id }, body: { credentialsId } });

test('credentials are assigned, listed with their types, and removed', async () => {
  const aws = await newCredential('aws');
  const azure = await newCredential('azure', {
    type: 'AZURE_CREDENTIALS',
    value: { clientId: 'c', clientSecret: 's', subscriptionId: 'u', tenantId: 't' },
  });
  const ofAws = { projectId, credentialsId: aws, credentialsType: 'AWS_ASSUMED_ROLE' };
  assert.deepEqual(await assign(aws), ofAws);
  assert.deepEqual(await assign(aws), ofAws);
  await assign(azure);
  const both = await ok('listCostCredentials', { params });
  assert.deepEqual(fieldsOf(both, 'credentialsId', 'credentialsType'), [
    [azure, 'AZURE_CREDENTIALS'],
    [aws, 'AWS_ASSUMED_ROLE'],
  ]);
  for (const credentialsId of [aws, azure])
    assert.deepEqual(await ok('unassignCostCredential', { params: { projectId, credentialsId } }), {
      projectId,
      credentialsId,
    });
  assert.deepEqual(await ok('listCostCredentials', { params }), []);
  await refused('unassignCostCredential', 404, { params: { projectId, credentialsId: aws } });
});

test('an assignment says that it has no effect yet', async () => {
  const credentialsId = await newCredential('warned');
  const { headers } = await call('assignCostCredential', { params, body: { credentialsId } });
  assert.equal(
    headers['x-envarium-warning'],
    `credentialsId ${credentialsId} is stored but has no effect yet: the costs of clouds are not read.`,
  );
});

test('unknown and foreign credentials are refused alike, those for runs by their type', async () => {
  const other = await app.addKey();
  const { id: foreign } = await ok('createOrganization', { body: { name: 'Other' }, as: other });
  const { id: theirs } = await ok('createCredential', {
    body: { organizationId: foreign, name: 'theirs', type: 'AWS_ASSUMED_ROLE', value: role },
    as: other,
  });
  for (const credentialsId of [randomUUID(), 'no-uuid', theirs]) {
    const { message } = await refused('assignCostCredential', 400, { params, body: { credentialsId } });
    assert.match(message, /^\/body\/credentialsId does not match any credential/);
    await refused('unassignCostCredential', 404, { params: { projectId, credentialsId } });
  }
  const forRuns = await newCredential('runs', { type: 'AWS_OIDC' });
  const { message } = await refused('assignCostCredential', 400, {
    params,
    body: { credentialsId: forRuns },
  });
  assert.equal(
    message,
    '/body/credentialsId names the credential "runs" of type AWS_OIDC, which is for runs: costs are read with ' +
      'AWS_ASSUMED_ROLE, GCP_CREDENTIALS, AZURE_CREDENTIALS',
  );
  for (const body of [{}, { credentialsId: '' }, { credentialsId: 7 }, { credentialsId: 'x', more: 1 }])
    await refused('assignCostCredential', 400, { params, body });
});

test('a credential of a project reads the costs of that one and those below', async () => {
  const home = await newProject('home');
  const below = await newProject('below', { parentProjectId: home });
  const { id } = await ok('createCredential', {
    body: { projectId: home, name: 'of home', type: 'AWS_ASSUMED_ROLE', value: role },
  });
  await assign(id, below);
  const body = { credentialsId: id };
  await refused('assignCostCredential', 409, /another project/, { params, body });
});

test('a credential of the organization is assigned with EDIT_ORGANIZATION_SETTINGS only', async () => {
  const credentialsId = await newCredential('guarded');
  const editor = await app.addKey({ [organizationId]: ['VIEW_PROJECT', 'EDIT_PROJECT_SETTINGS'] });
  await refused('assignCostCredential', 403, /EDIT_ORGANIZATION_SETTINGS/, {
    params,
    body: { credentialsId },
    as: editor,
  });
  await assign(credentialsId);
  await ok('unassignCostCredential', { params: { projectId, credentialsId }, as: editor });
});

test('a credential that reads costs is not deleted, and does not become one for runs', async () => {
  const id = await newCredential('in use');
  await assign(id);
  const deleting = await refused('deleteCredential', 409, { id });
  assert.match(deleting.message, /^The credential "in use" is assigned to ".*": remove it from there first/);
  const body = { type: 'AWS_OIDC', value: role };
  const changing = await refused('updateCredential', 400, { id, body });
  assert.match(changing.message, /^\/body\/type must be one for costs while the credential reads costs/);
  await ok('unassignCostCredential', { params: { projectId, credentialsId: id } });
  await ok('updateCredential', { id, body });
  await ok('deleteCredential', { id });
});

test('the audit trail has each change of an assignment', async () => {
  const id = await newCredential('audited');
  await assign(id);
  await assign(id);
  await ok('unassignCostCredential', { params: { projectId, credentialsId: id } });
  const rows = await sql<{ action: string }>(
    'select action from audit_event where entity_id = $1 order by at, id',
    id,
  );
  assert.deepEqual(fieldOf(rows, 'action'), [
    'credential.created',
    'credential.assignedForCosts',
    'credential.unassignedForCosts',
  ]);
});

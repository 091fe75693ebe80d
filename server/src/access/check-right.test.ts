import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Operation, Subject } from '#contract/operation.ts';
import { operations } from '#contract/operations.ts';
import type { OperationName } from '#contract/routes.ts';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { call, ok, refused, send } from '../testing/client.ts';
import { createActive, createBody } from '../testing/environment.ts';

const app = await testApp();
const agent = await testAgent(app);
const environment = await createActive(app, agent);
const [version] = await ok(app, 'listStateVersions', { params: { id: environment.id } });
const token = await ok(app, 'createGitToken', {
  body: { organizationId: app.organizationId, name: 't', value: 'v' },
});
const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
});
const sshKey = await ok(app, 'createSshKey', {
  body: { organizationId: app.organizationId, name: 'k', value: privateKey },
});

const stranger = await app.addKey();
const other = await app.addKey();
const { id: otherOrganization } = await ok(app, 'createOrganization', { body: { name: 'Other' }, as: other });

const ids: Record<Subject['entity'], string> = {
  organization: app.organizationId,
  project: app.projectId,
  environment: environment.id,
  deployment: environment.latestDeploymentLogId ?? '',
  template: environment.blueprintId,
  stateVersion: version?.id ?? '',
  gitToken: token.id,
  sshKey: sshKey.id,
  agent: 'ENVARIUM_DEFAULT',
};

/** Bodies that pass the checks of the operations that need one. */
const bodies: Partial<Record<OperationName, object>> = {
  createEnvironmentWithoutTemplate: createBody(app),
  createProject: { organizationId: app.organizationId, name: 'p' },
  createGitToken: { organizationId: app.organizationId, name: 'n', value: 'v' },
  createSshKey: { organizationId: app.organizationId, name: 'n', value: privateKey },
  updateSshKey: { value: privateKey },
  updateEnvironment: { name: 'taken over' },
  setEnvironmentLock: { isLocked: true },
  createOrganization: { name: 'Mine' },
  releaseDeployment: { reason: 'silent' },
  updateOrganizationPolicies: { maxTtl: '1-d' },
  updateProject: { name: 'taken over' },
  moveProject: { targetProjectId: null },
  updateEnvironmentTtl: { type: 'INFINITE' },
  moveEnvironment: { projectId: app.projectId },
  updateDriftSchedule: { enabled: false },
  setStateAccess: { accessibleFromEntireOrganization: true },
};

/** A well-formed request about the things of the first organization. */
function requestOf(operation: Operation) {
  const subjects = [operation.subject ?? []].flat() as Subject[];
  const named = (part: Subject['in']) =>
    Object.fromEntries(
      subjects
        .filter((subject) => subject.in === part)
        .map((subject) => [subject.field, ids[subject.entity]]),
    );
  return {
    params: { name: 'tf:plan', ...named('params') },
    query: named('query'),
    body: bodies[operation.name],
  };
}

const guarded = (Object.values(operations) as Operation[]).filter(({ subject }) => subject !== undefined);
const isIn = (operation: Operation, part: Subject['in']) =>
  ([operation.subject ?? []].flat() as Subject[]).some((subject) => subject.in === part);

test('the walk covers every entity', () => {
  assert.deepEqual(
    new Set(
      guarded.flatMap(({ subject }) => ([subject ?? []].flat() as Subject[]).map(({ entity }) => entity)),
    ),
    new Set(Object.keys(ids)),
  );
});

for (const operation of guarded) {
  test(`${operation.name}: another organization's id is as unknown as one that does not exist`, async () => {
    const response = await call(app, operation.name, { ...requestOf(operation), as: other });
    assert.equal(response.statusCode, isIn(operation, 'params') ? 404 : 400, response.body);
    if (!isIn(operation, 'params'))
      assert.match(response.body, /\/(body|query)\/(projectId|organizationId) does not match any/);
  });

  test(`${operation.name}: a caller without any role`, async () => {
    const response = await call(app, operation.name, { ...requestOf(operation), as: stranger });
    const isList = operation.method === 'GET' && isIn(operation, 'query');
    assert.equal(response.statusCode, isIn(operation, 'params') ? 404 : isList ? 200 : 403, response.body);
    if (isList) assert.equal(response.body, '[]');
  });
}

test('lists are empty for a caller without any role, and hold nothing of others', async () => {
  for (const as of [stranger, other]) {
    const environments = await call(app, 'listEnvironments', { as });
    assert.deepEqual([environments.body, environments.headers['x-total-count']], ['[]', '0']);
    assert.deepEqual(await ok(app, 'listAgents', { as }), []);
  }
  assert.deepEqual(await ok(app, 'listOrganizations', { as: stranger }), []);
  assert.deepEqual(await ok(app, 'listProjects', { as: stranger }), []);
  for (const query of [{ organizationId: app.organizationId }, { projectId: app.projectId }] as Record<
    string,
    string
  >[]) {
    assert.deepEqual(await ok(app, 'listEnvironments', { query, as: stranger }), []);
  }
  assert.deepEqual(
    (await ok(app, 'listOrganizations', { as: other })).map(({ id }) => id),
    [otherOrganization],
  );
  assert.deepEqual(
    (await ok(app, 'listProjects', { as: other })).map(({ organizationId }) => organizationId),
    [otherOrganization],
  );
});

test('an id in a query that is unknown or not visible is a 400 that names the field', async () => {
  const refusals: [OperationName, string][] = [
    ['listEnvironments', 'organizationId'],
    ['listEnvironments', 'projectId'],
    ['listProjects', 'organizationId'],
    ['listAgents', 'organizationId'],
    ['listGitTokens', 'organizationId'],
    ['listSshKeys', 'organizationId'],
  ];
  for (const [name, field] of refusals) {
    for (const id of [
      randomUUID(),
      'no-uuid',
      '',
      field === 'projectId' ? app.projectId : app.organizationId,
    ]) {
      assert.match(
        (await refused(app, name, 400, { query: { [field]: id }, as: other })).message,
        new RegExp(`query.*${field}`),
        `${name} ${id}`,
      );
    }
  }
});

test('an id in the path that does not exist, or is none at all, is a 404 in the common form', async () => {
  for (const operation of guarded.filter((each) => isIn(each, 'params'))) {
    const request = requestOf(operation);
    for (const id of [randomUUID(), 'no-uuid', '%', "' or 1=1 --", '../..', 'ä'.repeat(300)]) {
      const params = Object.fromEntries(
        Object.keys(request.params).map((field) => [field, field === 'name' ? 'tf:plan' : id]),
      );
      const { statusCode, body } = await call(app, operation.name, { ...request, params });
      assert.equal(statusCode, 404, `${operation.name} ${id}`);
      // Entities are named in words: "state version", not "stateVersion".
      assert.match(body, /"message":"No [a-z ]+ with id/);
    }
  }
});

test('a role that nobody knows gives no right', async () => {
  const odd = await app.addKey({ [app.organizationId]: 'constructor' });
  assert.equal((await send(app, { url: `/api/environments/${environment.id}` }, odd)).statusCode, 403);
  assert.deepEqual(await ok(app, 'listEnvironments', { as: odd }), []);
});

test('nothing of what was refused was done', async () => {
  const after = await ok(app, 'getEnvironment', { params: { id: environment.id } });
  assert.deepEqual([after.name, after.isLocked, after.status], ['network', false, 'ACTIVE']);
  assert.equal((await ok(app, 'listEnvironments')).length, 1);
  assert.equal((await ok(app, 'listGitTokens', { query: { organizationId: app.organizationId } })).length, 1);
});

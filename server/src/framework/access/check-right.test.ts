import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type OperationName, operations } from '#contract/operations.ts';
import type { Operation, Subject } from '#contract/schema/operation.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { makeSamples, subjectsOf } from '../../../testing/samples.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, send, call, ok, refused, createActive } = await startAgentTests();
const environment = await createActive();
const { ids, requestOf } = await makeSamples(app, environment);

const outsider = await app.addKey();
const other = await app.addKey();
const { id: otherOrganization } = await ok('createOrganization', { body: { name: 'Other' }, as: other });

const guarded = Object.values<Operation>(operations).filter(
  (operation): operation is Operation & { name: OperationName } => operation.subject !== undefined,
);
const isIn = (operation: Operation, part: Subject['in']) =>
  subjectsOf(operation).some((subject) => subject.in === part);

test('every entity that a right is checked for has a sample in testing/samples', () => {
  const entities = new Set(guarded.flatMap(subjectsOf).map(({ entity }) => entity));
  assert.deepEqual([...entities].filter((entity) => !ids[entity]).toSorted(), []);
});

for (const operation of guarded) {
  test(`${operation.name}: another organization's id is as unknown as one that does not exist`, async () => {
    const response = await call(operation.name, { ...requestOf(operation), as: other });
    assert.equal(response.statusCode, isIn(operation, 'params') ? 404 : 400, response.body);
    if (!isIn(operation, 'params'))
      assert.match(
        response.body,
        /\/(body|query)\/(projectId|parentProjectId|organizationId|environmentId|deploymentId|teamId|scopeId|id) does not match any/,
      );
  });

  test(`${operation.name}: a caller without any role`, async () => {
    const response = await call(operation.name, { ...requestOf(operation), as: outsider });
    const isArray = (operation.reply as { type?: unknown }).type === 'array';
    const isList = operation.method === 'GET' && isIn(operation, 'query') && isArray;
    assert.equal(response.statusCode, isIn(operation, 'params') ? 404 : isList ? 200 : 403, response.body);
    if (isList) assert.equal(response.body, '[]');
  });
}

test('lists are empty for a caller without any role, and hold nothing of others', async () => {
  for (const as of [outsider, other]) {
    const environments = await call('listEnvironments', { as });
    assert.deepEqual([environments.body, environments.headers['x-total-count']], ['[]', '0']);
  }
  assert.deepEqual(await ok('listAgents', { as: outsider }), []);
  assert.deepEqual(fieldOf(await ok('listAgents', { as: other }), 'organizationId'), [otherOrganization]);
  assert.deepEqual(await ok('listOrganizations', { as: outsider }), []);
  assert.deepEqual(await ok('listProjects', { as: outsider }), []);
  for (const query of [{ organizationId: app.organizationId }, { projectId: app.projectId }] as Record<
    string,
    string
  >[]) {
    assert.deepEqual(await ok('listEnvironments', { query, as: outsider }), []);
  }
  assert.deepEqual(fieldOf(await ok('listOrganizations', { as: other }), 'id'), [otherOrganization]);
  assert.deepEqual(fieldOf(await ok('listProjects', { as: other }), 'organizationId'), [otherOrganization]);
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
        (await refused(name, 400, { query: { [field]: id }, as: other })).message,
        new RegExp(`query.*${field}`),
        `${name} ${id}`,
      );
    }
  }
});

test('an unknown or malformed id in the path is a 404 in the common form', async () => {
  for (const operation of guarded.filter((each) => isIn(each, 'params'))) {
    const request = requestOf(operation);
    for (const id of [randomUUID(), 'no-uuid', '%', "' or 1=1 --", '../..', 'ä'.repeat(300)]) {
      const params = Object.fromEntries(
        Object.keys(request.params ?? {}).map((field) => [field, field === 'name' ? 'tf:plan' : id]),
      );
      const { message } = await refused(operation.name, 404, { ...request, params });
      // Entities are named in words: "state version", not "stateVersion".
      assert.match(message, /^No [a-z ]+ with id/, `${operation.name} ${id}`);
    }
  }
});

test('an unknown role grants no rights', async () => {
  const unknownRole = await app.addKey({ [app.organizationId]: 'constructor' });
  assert.equal((await send({ url: `/api/environments/${environment.id}` }, unknownRole)).statusCode, 403);
  assert.deepEqual(await ok('listEnvironments', { as: unknownRole }), []);
});

test('refused requests change nothing', async () => {
  const after = await ok('getEnvironment', { id: environment.id });
  assert.deepEqual([after.name, after.isLocked, after.status], ['network', false, 'ACTIVE']);
  assert.equal((await ok('listEnvironments')).length, 1);
  assert.equal((await ok('listGitTokens', { query: { organizationId: app.organizationId } })).length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duringTransaction } from '../../../testing/locks.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok } = await startTests();

const bodyOf = (name: string, more: object = {}) => ({
  ...{ name, scope: 'organization', scopeId: organizationId },
  ...more,
});
const createSet = (name: string, more: object = {}) =>
  ok('createConfigurationSet', { body: bodyOf(name, more) });

test('variables of a set are changed by one request at a time, whichever way they are changed', async () => {
  const set = await createSet('shared', { configurationProperties: [{ name: 'A', value: 'a' }] });
  const lock = 'select from configuration_set where id = $1 for update';
  const scope = { scope: 'SET', scopeId: set.id, organizationId };
  const [variable] = await ok('listVariables', { query: { organizationId, setId: set.id } });
  for (const request of [
    () => call('saveVariables', { body: [{ ...scope, name: 'B', type: 0, value: 'b' }] }),
    () =>
      call('updateConfigurationSet', {
        id: set.id,
        body: { configurationPropertiesChanges: [{ name: 'C', value: 'c' }] },
      }),
    () => call('deleteVariable', { id: variable?.id ?? '' }),
  ])
    assert.equal((await duringTransaction(app.database, lock, [set.id], request)).statusCode, 200);
  const names = (await ok('listVariables', { query: { organizationId, setId: set.id } })).map(
    ({ name }) => name,
  );
  assert.deepEqual(names, ['B', 'C']);
});

test('the same variable that two requests create at once is one variable', async () => {
  const set = await createSet('at once');
  const scope = { scope: 'SET', scopeId: set.id, organizationId };
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0
        ? call('saveVariables', { body: [{ ...scope, name: 'A', type: 0, value: `${index}` }] })
        : call('updateConfigurationSet', {
            id: set.id,
            body: { configurationPropertiesChanges: [{ name: 'A', value: `${index}` }] },
          }),
    ),
  );
  assert.deepEqual([...new Set(replies.map(({ statusCode }) => statusCode))], [200]);
  assert.equal((await ok('listVariables', { query: { organizationId, setId: set.id } })).length, 1);
});

test('a set does not get the name of one that is made at the same moment', async () => {
  const set = await createSet('before');
  const copy = `insert into configuration_set select gen_random_uuid(), organization_id, project_id, 'taken', description, created_by,
    created_at, updated_at, deleted_at from configuration_set where id = $1`;
  const reply = await duringTransaction(app.database, copy, [set.id], () =>
    call('updateConfigurationSet', { id: set.id, body: { name: 'taken' } }),
  );
  assert.equal(reply.statusCode, 409);
  assert.equal((await ok('getConfigurationSet', { id: set.id })).name, 'before');
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { stateFile } from '../../../testing/agent.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { countThreads } from '../../../testing/threads.ts';

const { app, agent, call, ok, refused, sql, createActive, createIdle, deploy } = await startAgentTests();

const importState = (id: string, body: string, query: Record<string, string> = {}) =>
  ok('importState', { id, body, query, headers: { 'content-type': 'application/octet-stream' } });

test('a version is compared with another, by default its predecessor, and that is audited', async () => {
  const environment = await createActive({}, ['a', 'b']);
  await deploy(environment.id, { userRequiresApproval: false });
  await agent.run(['b', 'c']);
  const [second, first] = await ok('listStateVersions', { id: environment.id });
  const compared = await ok('compareStateVersions', { id: second!.id });
  assert.deepEqual(
    [compared.before.id, compared.after.id, compared.isSameLineage],
    [first?.id, second?.id, true],
  );
  assert.deepEqual(
    [compared.before.serial, compared.after.serial, compared.after.terraformVersion],
    [1, 2, '1.11.4'],
  );
  assert.deepEqual(fieldsOf(compared.resources, 'address', 'change'), [
    ['terraform_data.a', 'removed'],
    ['terraform_data.c', 'added'],
  ]);
  assert.equal(compared.unchangedResourceCount, 1);
  const reverse = await ok('compareStateVersions', { id: first!.id, query: { with: second!.id } });
  assert.deepEqual(fieldOf(reverse.resources, 'change'), ['added', 'removed']);
  const rows = await sql("select entity_id from audit_event where action = 'state.compared' order by number");
  assert.deepEqual(fieldOf(rows, 'entity_id'), [second?.id, first?.id]);
});

test('states of different lineages can be compared, with a note', async () => {
  const environment = await createIdle();
  await importState(environment.id, stateFile(1, ['a'], 'one'));
  const other = await importState(environment.id, stateFile(1, ['a'], 'other'), {
    acceptOtherLineage: 'true',
  });
  const compared = await ok('compareStateVersions', { id: other.id });
  assert.deepEqual(
    [compared.isSameLineage, compared.before.lineage, compared.after.lineage],
    [false, 'one', 'other'],
  );
  assert.deepEqual(compared.resources, []);
});

test('foreign, unknown and missing versions are refused by name', async () => {
  const [one, two] = [await createIdle(), await createIdle()];
  const first = await importState(one.id, stateFile(1));
  const second = await importState(two.id, stateFile(1));
  for (const id of [second.id, randomUUID(), 'no-uuid']) {
    const { message } = await refused('compareStateVersions', 400, { id: first.id, query: { with: id } });
    assert.equal(message, '/query/with does not match a state version of the same environment');
  }
  await refused('compareStateVersions', 400, /^\/query\/with is required/, { id: first.id });
  const member = await app.addKey({ [app.organizationId]: 'User' });
  await refused('compareStateVersions', 403, { id: first.id, query: { with: first.id }, as: member });
});

test('comparisons hide the values of sensitive variables, current and of the run that made a version', async () => {
  const environment = await createActive({
    configurationChanges: [{ name: 'password', value: 'planted-old-value', type: 1, isSensitive: true }],
  });
  await deploy(environment.id, {
    userRequiresApproval: false,
    configurationChanges: [
      { name: 'password', value: 'planted-new-value', type: 1, isSensitive: true },
      {
        name: 'login',
        value: '{"user":"planted-inner"}',
        type: 1,
        isSensitive: true,
        schema: { type: 'string', format: 'JSON' },
      },
    ],
  });
  await agent.run();
  const [, first] = await ok('listStateVersions', { id: environment.id });
  const withText = (serial: number, text: string) =>
    stateFile(serial, ['a'], environment.id).replace(
      '"instances":[{}]',
      `"instances":[{"attributes":{"text":"${text}"}}]`,
    );
  await sql(
    'update state_version set blob = $1 where id = $2',
    JSON.stringify(
      await app.context.blobs.put(
        ['states', environment.id],
        Buffer.from(withText(1, 'old: planted-old-value')),
      ),
    ),
    first?.id,
  );
  const made = await importState(environment.id, withText(9, 'new: planted-new-value planted-inner user'));
  const response = await call('compareStateVersions', { id: made.id, query: { with: first!.id } });
  assert.ok(!response.body.includes('planted'), response.body);
  assert.match(response.body, /old: \*{8}/);
  assert.match(response.body, /new: \*{8} \*{8} user/);
});

test('comparisons hide the secrets of the run behind a version that was rolled back to, twice', async () => {
  const environment = await createActive({
    configurationChanges: [{ name: 'password', value: 'planted-first', type: 1, isSensitive: true }],
  });
  const [first] = await ok('listStateVersions', { id: environment.id });
  const text = stateFile(1, ['a'], environment.id).replace(
    '"instances":[{}]',
    '"instances":[{"attributes":{"text":"it is planted-first"}}]',
  );
  const blob = await app.context.blobs.put(['states', environment.id], Buffer.from(text));
  await sql('update state_version set blob = $1 where id = $2', JSON.stringify(blob), first?.id);
  await deploy(environment.id, {
    userRequiresApproval: false,
    configurationChanges: [{ name: 'password', value: 'planted-later', type: 1, isSensitive: true }],
  });
  await agent.run(['b']);
  const back = await ok('rollBackState', { id: first!.id, body: {} });
  const empty = await importState(environment.id, stateFile(9, [], environment.id));
  const again = await ok('rollBackState', { id: back.id, body: {} });
  const response = await call('compareStateVersions', { id: again.id, query: { with: empty.id } });
  assert.ok(!response.body.includes('planted'), response.body);
  assert.match(response.body, /it is \*{8}/);
});

test('values with quotes that nothing closes do not delay a comparison', async () => {
  // A search from each of the quotes takes minutes.
  const value = `1 # "${'\\"'.repeat(250_000)}`;
  const schema = { type: 'string', format: 'HCL' } as const;
  const environment = await createActive({
    configurationChanges: [{ name: 'quotes', value, type: 1, isSensitive: true, schema }],
  });
  await importState(environment.id, stateFile(5, ['a'], environment.id));
  const { id } = await importState(environment.id, stateFile(6, ['b'], environment.id));
  const compared = await ok('compareStateVersions', { id });
  assert.equal(compared.resources.length, 2);
});

test('a state that is nested too deeply is refused, and does not cause an internal error', async () => {
  const { id } = await createIdle();
  const nested = (depth: number, inner: string) =>
    `{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"t","name":"n","provider":"p","instances":[{"attributes":{"a":${'['.repeat(depth)}${inner}${']'.repeat(depth)}}}]}]}`;
  for (const depth of [500, 5_000, 50_000]) {
    await importState(id, nested(depth, '1'));
    const second = await importState(id, nested(depth, '2'));
    const { statusCode } = await call('compareStateVersions', { id: second.id });
    assert.ok(
      depth === 500 ? statusCode === 200 : [200, 409].includes(statusCode),
      `${depth}: ${statusCode}`,
    );
  }
});

test('large states are compared in another thread, and differences that no one reads are refused', async () => {
  const { id } = await createIdle();
  const names = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${index}`);
  await importState(id, stateFile(1, names('a', 8_000)).padEnd(3_000_000));
  const second = await importState(id, stateFile(2, [...names('a', 8_000), 'b']));
  const compared = await ok('compareStateVersions', { id: second.id });
  assert.deepEqual([compared.resources.length, compared.unchangedResourceCount], [1, 8_000]);
  const third = await importState(id, stateFile(3, names('c', 60_000)));
  const { message } = await refused('compareStateVersions', 409, { id: third.id });
  assert.match(message, /differ in too much to be shown here: download both/);
});

test('one comparison of large states works at a time', async () => {
  const { id } = await createIdle();
  await importState(id, stateFile(1, ['a']));
  const { id: version } = await importState(id, stateFile(2, ['b']).padEnd(3 * 1024 * 1024));
  const { result: all, most } = await countThreads(() =>
    Promise.all(Array.from({ length: 4 }, () => ok('compareStateVersions', { id: version }))),
  );
  for (const { resources } of all) assert.equal(resources.length, 2);
  assert.equal(most, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, sql, createBody, createIdle, deploy } = await startTests();
const many = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `V${index}`, value }));

async function entries(action: string, entityId: string) {
  const rows = await sql<{ details: Record<string, unknown> }>(
    'select details from audit_event where action = $1 and entity_id = $2 order by number',
    action,
    entityId,
  );
  return rows.map(({ details }) => details);
}

test('as many changes as one request may have are written without reading the scope for each', async () => {
  const { id } = await createIdle({ configurationChanges: many(500, 'first') });
  const startedAt = performance.now();
  await deploy(id, { deploymentType: 'dryRun', configurationChanges: many(500, 'second') });
  const seconds = (performance.now() - startedAt) / 1000;
  assert.ok(seconds < 10, `${seconds} s`);
  const rows = await sql('select id from variable where scope_id = $1', id);
  assert.equal(rows.length, 500);
});

test('a variable takes the name of one that the same request renames or deletes', async () => {
  const { id } = await createIdle({
    configurationChanges: [
      { name: 'A', value: 'a' },
      { name: 'B', value: 'b' },
      { name: 'C', value: 'c' },
    ],
  });
  const before = await sql<{ id: string; name: string }>(
    'select id, name from variable where scope_id = $1 order by name',
    id,
  );
  const [a, b, c] = before.map((row) => row.id);
  await deploy(id, {
    deploymentType: 'dryRun',
    configurationChanges: [
      { id: c, toDelete: true },
      { id: b, name: 'C' },
      { id: a, name: 'B', value: 'new' },
      { name: 'A', value: 'another' },
    ],
  });
  const after = await sql<{ id: string; name: string }>(
    'select id, name from variable where scope_id = $1 order by name',
    id,
  );
  assert.deepEqual(fieldsOf(after, 'name', 'id'), [
    ['A', after[0]?.id],
    ['B', a],
    ['C', b],
  ]);
});

test('two changes of one variable are refused, however they name it', async () => {
  const { id } = await createIdle({
    configurationChanges: [
      { name: 'A', value: 'a' },
      { name: 'A', type: 1, value: 'of the tool' },
    ],
  });
  const rows = await ok('listVariables', {
    query: { organizationId: app.organizationId, environmentId: id },
  });
  const [first, second] = rows.map((row) => row.id);
  const again = { id: first, value: 'again' };
  for (const [one, other] of [
    [{ id: first, value: 'b' }, again],
    [{ id: first, name: 'B' }, again],
    [{ name: 'A', value: 'b' }, again],
    [again, { name: 'A', value: 'b' }],
    [
      { id: second, value: 'b' },
      { name: 'A', type: 1, value: 'c' },
    ],
    [
      { id: second, value: 'b' },
      { id: second?.toUpperCase(), isSensitive: true },
    ],
  ] as const) {
    const configurationChanges = [one, other];
    const { message } = await refused('deployEnvironment', 400, {
      id,
      body: { deploymentType: 'dryRun', configurationChanges },
    });
    assert.match(
      message,
      /^\/body\/configurationChanges\/1\/name "[AB]" of type [01] is also in \/body\/configurationChanges\/0: send/,
    );
  }
  await deploy(id, {
    deploymentType: 'dryRun',
    configurationChanges: [
      { id: second, value: 'of another type' },
      { name: 'A', value: 'b' },
    ],
  });
});

test('more changes than one request may have are refused with the field and the limit', async () => {
  await refused('createEnvironmentWithoutTemplate', 400, /^\/body\/configurationChanges .*500 items/, {
    body: createBody({ configurationChanges: many(501, 'v') }),
  });
});

test('the audit trail names the variables that a request changed, and never has a value', async () => {
  const { id } = await createIdle({
    configurationChanges: [
      { name: 'KEPT', value: 'planted' },
      { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'true' },
    ],
  });
  await deploy(id, {
    deploymentType: 'dryRun',
    configurationChanges: [
      { name: 'NEW', value: 'planted', isSensitive: true },
      { name: 'ENVARIUM_REQUIRES_APPROVAL', value: 'false' },
      { name: 'KEPT', toDelete: true },
      { name: 'UNKNOWN', toDelete: true },
    ],
  });
  assert.deepEqual(await entries('variables.changed', id), [
    { created: ['KEPT', 'ENVARIUM_REQUIRES_APPROVAL'], updated: [], deleted: [] },
    { created: ['NEW'], updated: ['ENVARIUM_REQUIRES_APPROVAL'], deleted: ['KEPT'] },
  ]);
});

test('the audit trail keeps changes of two variables of one name apart', async () => {
  const { id } = await createIdle({
    configurationChanges: [
      { name: 'SAME', value: 'a', regex: '^a' },
      { name: 'SAME', type: 1, value: 'b', regex: '^b' },
      { name: 'OTHER', value: 'c' },
    ],
  });
  const { events } = await ok('listAuditEvents', {
    query: { organizationId: app.organizationId, limit: '100' },
  });
  const { before, after } = events.find(
    (event) => event.entityId === id && event.actionName === 'variables.changed',
  )!;
  assert.deepEqual(before, {});
  assert.deepEqual(Object.keys(after ?? {}), ['OTHER', 'SAME (type 0)', 'SAME (type 1)']);
  assert.match(JSON.stringify(after?.['SAME (type 1)']), /"\^b"/);
});

test('the audit trail has where the code of an environment came from, and comes from now', async () => {
  const { id } = await createIdle();
  const blueprintRepository = 'https://git.example.com/other.git';
  await deploy(id, { blueprintRepository, blueprintRevision: 'main' });
  assert.deepEqual(await entries('environment.sourceChanged', id), [
    {
      repository: { from: 'https://git.example.com/network.git', to: blueprintRepository },
      revision: { from: '', to: 'main' },
    },
  ]);
});

test('names that every object has are names of variables like any other', async () => {
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
  const { id } = await createIdle({ configurationChanges: names.flatMap((name) => [{ name, value: 'v' }]) });
  const rows = await sql<{ name: string }>('select name from variable where scope_id = $1', id);
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), names.toSorted());
});

test('descriptions, comments and reasons have a limit, which the refusal names', async () => {
  const text = 'x'.repeat(4001);
  const { id } = await createIdle();
  const refusals = [
    refused('createEnvironmentWithoutTemplate', 400, { body: createBody({ description: text }) }),
    refused('createProject', 400, {
      body: { organizationId: app.organizationId, name: 'p', description: text },
    }),
    refused('createOrganization', 400, { body: { name: 'o', description: text } }),
    refused('deployEnvironment', 400, { id, body: { comment: text } }),
    refused('setEnvironmentLock', 400, { id, body: { isLocked: true, reason: text } }),
    refused('createAgentSecret', 400, {
      params: { agentKey: 'ENVARIUM_DEFAULT' },
      body: { description: text },
    }),
  ];
  for (const each of await Promise.all(refusals))
    assert.match(
      each.message,
      /^\/body\/(description|comment|reason) must NOT have more than 4000 characters/,
    );
  await ok('setEnvironmentLock', { id, body: { isLocked: true, reason: 'x'.repeat(4000) } });
});

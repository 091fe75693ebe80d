import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { stateProtocolBase } from '#contract/state/operations.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { connect } from '../../ground/database/open.ts';
import { auditRefusedCalls } from '../../service/audit-log/audit-refused-calls.ts';
import { linkEntries } from '../../service/audit-log/link-entries.ts';

const { app, organizationId, send, ok, refused, sql, createIdle } = await startTests();

async function refusedCalls() {
  await auditRefusedCalls(app.context);
  const rows = await sql(
    "select actor_id, organization_id, entity, entity_id, details from audit_event where action = 'call.refused' order by number",
  );
  return rows;
}

test('calls without the right are recorded once for each caller and operation, with their number', async () => {
  const reader = await app.addKey({ [organizationId]: 'Reader' });
  const body = { organizationId, name: 't', value: 'planted-value' };
  for (let time = 0; time < 3; time++) await refused('createGitToken', 403, { body, as: reader });
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  await refused('createAgentSecret', 403, { params, as: reader });
  await refused('getEnvironment', 404, { id: randomUUID(), as: reader });
  const rows = await refusedCalls();
  const [{ actor_id: actor }] = rows;
  assert.deepEqual(rows, [
    {
      actor_id: actor,
      organization_id: organizationId,
      // Refused before the body was read, which names the organization.
      entity: 'operation',
      entity_id: 'createGitToken',
      details: { operation: 'createGitToken', count: 3 },
    },
    {
      actor_id: actor,
      organization_id: organizationId,
      entity: 'agent',
      entity_id: 'ENVARIUM_DEFAULT',
      details: { operation: 'createAgentSecret', count: 1 },
    },
  ]);
  assert.notEqual(actor, 'admin');
  assert.deepEqual(await refusedCalls(), rows, 'a second pass records nothing twice');
});

test('calls of the state protocol without the right are recorded, also those that only read', async () => {
  const { id } = await createIdle();
  const member = await app.addKey({ [organizationId]: 'User' });
  const url = `${stateProtocolBase}/${id}`;
  const before = (await refusedCalls()).length;
  for (const method of ['GET', 'GET', 'DELETE', 'LOCK'] as const) {
    const { statusCode } = await send({ method: method as 'GET', url }, member);
    assert.equal(statusCode, 403, method);
  }
  const rows = (await refusedCalls()).slice(before);
  assert.deepEqual(fieldsOf(rows, 'entity', 'entity_id', 'details'), [
    ['environment', id, { operation: 'state protocol GET', count: 2 }],
    ['environment', id, { operation: 'state protocol DELETE', count: 1 }],
    ['environment', id, { operation: 'state protocol LOCK', count: 1 }],
  ]);
});

test('calls of the state protocol about environments of others, known or not, are recorded', async () => {
  const { id } = await createIdle();
  const outsider = await app.addKey();
  await ok('createOrganization', { body: { name: 'Outsiders' }, as: outsider });
  const unknown = randomUUID();
  const before = (await refusedCalls()).length;
  for (const [path, method, status] of [
    [id, 'GET', 403],
    [unknown, 'GET', 403],
    ['not-an-id', 'GET', 403],
    [id, 'DELETE', 404],
  ] as const) {
    const { statusCode } = await send({ method, url: `${stateProtocolBase}/${path}` }, outsider);
    assert.equal(statusCode, status, `${method} ${path}`);
  }
  assert.deepEqual(fieldsOf((await refusedCalls()).slice(before), 'entity', 'entity_id', 'details'), [
    ['environment', id, { operation: 'state protocol GET', count: 3, others: [unknown] }],
    ['environment', id, { operation: 'state protocol DELETE', count: 1 }],
  ]);
});

test('the id that a caller sends is in the log, and names no entry of the audit trail', async () => {
  const member = await app.addKey({ [organizationId]: 'User' });
  const call = { params: { agentKey: 'ENVARIUM_DEFAULT' }, as: member };
  for (const sent of ['pipeline-7', 'line\nbreak', 'x'.repeat(129)])
    await refused('createAgentSecret', 403, { ...call, headers: { 'x-request-id': sent } });
  const lines = app.logged.map((line) => JSON.parse(line) as Record<string, string>);
  const ours = lines.filter(({ userId }) => userId === member.id);
  assert.deepEqual(fieldOf(ours, 'clientRequestId'), ['pipeline-7', undefined, undefined]);
  await auditRefusedCalls(app.context);
  const rows = await sql('select request_id from audit_event where actor_id = $1', member.id);
  assert.deepEqual(
    rows.map(({ request_id: id }) => id as string),
    [ours[0]?.['reqId']],
  );
  assert.notEqual(ours[0]?.['reqId'], 'pipeline-7');
});

test('an id that fits in no index is recorded with its beginning', async () => {
  const outsider = await app.addKey();
  const before = (await refusedCalls()).length;
  const projectId = randomBytes(3000).toString('base64url');
  await refused('getPolicy', 403, { query: { projectId }, as: outsider });
  const rows = (await refusedCalls()).slice(before);
  assert.deepEqual(
    rows.map(({ entity_id: entityId }) => entityId as string),
    [projectId.slice(0, 255)],
  );
  await linkEntries(app.context, true);
  const linked = await sql('select 1 from audit_link where entity_id = $1', projectId.slice(0, 255));
  assert.equal(linked.length, 1);
});

test('what was refused before an outage of the database is recorded after it, once', async () => {
  const [one, two] = [
    await app.addKey({ [organizationId]: 'Reader' }),
    await app.addKey({ [organizationId]: 'Reader' }),
  ];
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  const before = (await refusedCalls()).length;
  for (const as of [one, two, two]) await refused('createAgentSecret', 403, { params, as });
  await using away = connect({ host: '127.0.0.1', port: 1 });
  await assert.rejects(auditRefusedCalls({ ...app.context, db: away.db }), /ECONNREFUSED/);
  await assert.rejects(auditRefusedCalls({ ...app.context, db: away.db }), /ECONNREFUSED/);
  const rows = (await refusedCalls()).slice(before);
  assert.deepEqual(
    rows.map(({ actor_id: actor, details }) => [actor, (details as { count: number }).count]),
    [
      [one.id, 1],
      [two.id, 2],
    ],
  );
  assert.equal((await refusedCalls()).length, before + 2);
});

test('an entry that cannot be stored is dropped, and costs no other', async () => {
  const [one, two] = [
    await app.addKey({ [organizationId]: 'Reader' }),
    await app.addKey({ [organizationId]: 'Reader' }),
  ];
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  const before = (await refusedCalls()).length;
  for (const as of [one, two]) await refused('createAgentSecret', 403, { params, as });
  await sql(`alter table audit_event add constraint refuses check (actor_id <> '${one.id}') not valid`);
  const rows = (await refusedCalls()).slice(before);
  await sql('alter table audit_event drop constraint refuses');
  assert.deepEqual(
    rows.map(({ actor_id: actor }) => actor as string),
    [two.id],
  );
  assert.equal((await refusedCalls()).length, before + 1);
  assert.match(app.logged.join(''), /cannot be stored, and is dropped/);
});

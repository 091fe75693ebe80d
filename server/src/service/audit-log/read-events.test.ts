import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { AuditEvent } from '#contract/audit/shapes.ts';
import { verifyExport } from '#contract/audit/verify.ts';
import { basic } from '../../../testing/client.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { storeAudit } from '../../framework/audit/record.ts';
import { inTransaction } from '../../ground/database/transaction.ts';

const { app, call, ok, refused, sql } = await startTests();
const { organizationId, context } = app;

type Line = Omit<AuditEvent, 'actor'>;
const write = (entityId: string, more: Partial<Parameters<typeof storeAudit>[1]> = {}) =>
  storeAudit(context, { organizationId, action: 'thing.changed', entity: 'thing', entityId, ...more });

async function exported(query: Record<string, string> = {}): Promise<Line[]> {
  const { statusCode, body, headers } = await call('exportAuditEvents', {
    query: { organizationId, ...query },
  });
  assert.equal(statusCode, 200, body);
  assert.match(String(headers['content-type']), /^application\/x-ndjson/);
  return body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

async function* linesOf(lines: readonly Line[]) {
  for (const line of lines) yield JSON.stringify(line);
}

test('pages are stable while entries are added', async () => {
  for (let each = 0; each < 7; each++) await write(`first ${each}`);
  const query = { organizationId, limit: '3', entity: 'thing' };
  const seen: string[] = [];
  let offset = '';
  do {
    const page = await ok('listAuditEvents', { query: offset ? { ...query, offset } : query });
    seen.push(...page.events.map(({ entityId }) => entityId));
    offset = page.nextPageKey;
    await write('meanwhile');
  } while (offset !== '');
  assert.deepEqual(
    seen,
    [6, 5, 4, 3, 2, 1, 0].map((each) => `first ${each}`),
  );
});

test('an entry has its actor, address, key and request, also after the actor has another name', async () => {
  const { headers } = await call('createGitToken', {
    body: { organizationId, name: 'audited', value: 'planted-value' },
  });
  const query = { organizationId, action: 'gitToken.created' };
  const { events } = await ok('listAuditEvents', { query });
  const [entry] = events;
  assert.deepEqual(
    [entry?.actorId, entry?.keyId, entry?.ipAddress, entry?.requestId, entry?.actor.name],
    ['admin', 'admin', '127.0.0.1', headers['x-request-id'], 'First admin key'],
  );
  await sql("update app_user set name = 'Former user 1' where id = 'admin'");
  const later = await ok('listAuditEvents', { query });
  assert.deepEqual([later.events[0]?.actorId, later.events[0]?.actor.name], ['admin', 'Former user 1']);
  assert.equal((await ok('verifyAudit', { query: { organizationId } })).isIntact, true);
});

test('filters by time, actor, action, entity and project', async () => {
  const projectId = randomUUID();
  await write('filtered', { projectId, action: 'thing.made' });
  const by = async (query: Record<string, string>) =>
    (await ok('listAuditEvents', { query: { organizationId, ...query } })).events.map(
      ({ entityId }) => entityId,
    );
  assert.deepEqual(await by({ projectId }), ['filtered']);
  assert.deepEqual(await by({ action: 'thing.made' }), ['filtered']);
  assert.deepEqual(await by({ entityId: 'filtered', entity: 'thing', actorId: 'envarium' }), ['filtered']);
  const nothing: Record<string, string>[] = [
    { projectId: 'no-uuid' },
    { projectId: randomUUID() },
    { actorId: 'nobody' },
    { entity: 'thing', action: 'gitToken.created' },
    { to: '2020-01-01T00:00:00Z' },
    { from: '2120-01-01T00:00:00Z' },
  ];
  for (const none of nothing) assert.deepEqual(await by(none), [], JSON.stringify(none));
  const [newest] = (await ok('listAuditEvents', { query: { organizationId } })).events;
  const at = newest?.timestamp ?? '';
  assert.equal((await by({ from: at }))[0], newest?.entityId, 'from is included');
  assert.ok(!(await by({ to: at })).includes(newest?.entityId ?? ''), 'to is not included');
});

test('wrong queries are refused by the name of the field', async () => {
  for (const [field, value] of [
    ['limit', '0'],
    ['limit', '1001'],
    ['offset', 'no-uuid'],
    ['offset', randomUUID()],
    ['from', 'yesterday'],
    ['to', ''],
  ] as const)
    assert.match(
      (await refused('listAuditEvents', 400, { query: { organizationId, [field]: value } })).message,
      new RegExp(`/query/${field}`),
      `${field}=${value}`,
    );
  await refused('listAuditEvents', 400, /organizationId/);
});

test('another organization sees nothing of it, not even by the id of an entry', async () => {
  const other = await app.addKey();
  const { id } = await ok('createOrganization', { body: { name: 'Other' }, as: other });
  const own = await ok('listAuditEvents', { query: { organizationId: id }, as: other });
  assert.deepEqual(fieldsOf(own.events, 'actionName', 'entityId'), [['organization.created', id]]);
  assert.equal(own.events[0]?.link.number, 1, 'numbers tell nothing about others');
  await refused('listAuditEvents', 400, { query: { organizationId }, as: other });
  const [foreign] = (await ok('listAuditEvents', { query: { organizationId } })).events;
  const query = { organizationId: id, offset: foreign?.id ?? '' };
  for (const name of ['listAuditEvents', 'exportAuditEvents'] as const)
    await refused(name, 400, /query\/offset/, { query, as: other });
});

test('an export can be verified without the service, and shows what was changed in it', async () => {
  const lines = await exported();
  const { findings, entries, heads } = await verifyExport(linesOf(lines));
  assert.deepEqual([findings, entries], [[], lines.length]);
  const head = (await ok('verifyAudit', { query: { organizationId } })).heads[0];
  assert.deepEqual(heads.get(organizationId), { number: head?.number, hash: head?.hash });
  const middle = Math.floor(lines.length / 2);
  const kindsOf = async (changed: Line[], known?: string) =>
    (await verifyExport(linesOf(changed), known)).findings.map(({ kind }) => kind);
  assert.deepEqual(await kindsOf(lines.toSpliced(middle, 1)), ['linkRemoved']);
  assert.deepEqual(await kindsOf(lines.with(middle, { ...(lines[middle] as Line), actorId: 'x' })), [
    'entryChanged',
  ]);
  assert.deepEqual(await kindsOf(lines.toSpliced(middle, 0, lines[middle] as Line)), ['linkChanged']);
  assert.deepEqual(await kindsOf(lines.slice(0, -1), head?.hash), ['headNotFound']);
  assert.deepEqual(await kindsOf(lines, head?.hash), []);
});

test('an export of a time has no gaps', async () => {
  const lines = await exported();
  const from = lines[2]?.timestamp ?? '';
  const to = lines.at(-2)?.timestamp ?? '';
  const part = await exported({ from, to });
  assert.deepEqual((await verifyExport(linesOf(part))).findings, []);
  assert.ok(part.length > 0 && part.length < lines.length);
  assert.deepEqual(await exported({ from: '2120-01-01T00:00:00Z' }), []);
});

test('an export that is cut while entries are added continues, without a loss and without a double', async () => {
  const address = await app.listen();
  // Enough for the buffers of both sides to fill.
  for (let each = 0; each < 60; each++)
    await write(`big ${each}`, { details: { text: 'x'.repeat(100_000) } });
  let isDone = false;
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let each = 0; !isDone; each++)
      await inTransaction(context, async (context) => {
        await write(`growing ${writer} ${each}`);
        if (each % 3 === 0) await context.db.selectFrom('organization').select('id').execute();
      });
  });
  const lines: Line[] = [];
  for (let cut = 0; cut < 6; cut++) {
    const offset = lines.at(-1)?.id;
    const query = new URLSearchParams({ organizationId, ...(offset ? { offset } : {}) });
    const sent = request(`${address}/api/audit/export?${query}`, {
      headers: { authorization: basic(app.admin) },
    }).end();
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    assert.equal(response.statusCode, 200);
    let taken = 0;
    for await (const text of createInterface({ input: response })) {
      lines.push(JSON.parse(text) as Line);
      if (++taken === 23) break;
    }
    response.destroy();
  }
  isDone = true;
  await Promise.all(writers);
  lines.push(...(await exported({ offset: lines.at(-1)?.id ?? '' })));
  const whole = await exported();
  assert.deepEqual(fieldOf(lines, 'id'), fieldOf(whole, 'id'));
  const rows = await sql(
    'select count(*) as count from audit_event where organization_id = $1',
    organizationId,
  );
  assert.equal(lines.length, rows[0].count);
  assert.deepEqual((await verifyExport(linesOf(lines))).findings, []);
});

test('the installation has a trail of its own, for the operator', async () => {
  await write('of nobody', { organizationId: null });
  const { events } = await ok('listInstallationAuditEvents', { query: { entityId: 'of nobody' } });
  assert.deepEqual(fieldsOf(events, 'organizationId', 'entityId'), [[undefined, 'of nobody']]);
  const { body } = await call('exportInstallationAuditEvents');
  assert.match(body, /of nobody/);
  assert.equal((await ok('verifyInstallationAudit')).isIntact, true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { basic } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { families } from '../../families.ts';
import { Events } from '../../framework/events/events.ts';
import { buildApp } from '../../framework/http/app.ts';
import { closeApp } from '../../framework/http/connections/stop.ts';
import { auditRefusedCallers } from '../../service/audit-log/audit-refused-callers.ts';

const tests = await startTests({ ENVARIUM_TRUSTED_PROXIES: '127.0.0.1' });
const { app, organizationId, send, call, ok, refused, sql, add } = tests;
const create = (body: object = {}) => add('ApiKey', 'robot', body);
const keyOf = (made: { apiKeyId: string; apiKeySecret: string }) => ({
  id: made.apiKeyId,
  secret: made.apiKeySecret,
});
const url = '/api/organizations';
const statusOf = async (as: { id: string; secret: string }, remoteAddress = '127.0.0.1') =>
  (await send({ url, remoteAddress }, as)).statusCode;

test('an expired key is refused, and says so only to who has its secret', async () => {
  const made = await create({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
  assert.equal(await statusOf(keyOf(made)), 200);
  app.advance(61);
  const expired = await send({ url }, keyOf(made));
  assert.equal(expired.statusCode, 401);
  assert.match(expired.json<ErrorBody>().message, /expired at 2/);
  const wrong = await send({ url }, { id: made.apiKeyId, secret: 'planted-wrong' });
  assert.equal(wrong.statusCode, 401);
  assert.doesNotMatch(wrong.body, /expired/);
  const unknown = await send({ url }, { id: 'nobody', secret: 'planted-wrong' });
  assert.equal(wrong.json<ErrorBody>().message, unknown.json<ErrorBody>().message);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  await ok('updateApiKey', { id: made.id, body: { expiresAt } });
  assert.equal(await statusOf(keyOf(made)), 200);
});

test('a key is accepted from its networks only, also behind a proxy and in the IPv6 form of IPv4', async () => {
  const made = await create({ networks: ['192.0.2.0/24', '2001:db8::/32'] });
  const as = keyOf(made);
  for (const inside of ['192.0.2.9', '::ffff:192.0.2.9', '::ffff:c000:209', '2001:db8::7'])
    assert.equal(await statusOf(as, inside), 200, inside);
  for (const outside of ['192.0.3.9', '::ffff:192.0.3.9', '2001:db9::7', '127.0.0.2'])
    assert.equal(await statusOf(as, outside), 401, outside);
  const forwarded = async (address: string, remoteAddress: string) =>
    (await send({ url, remoteAddress, headers: { 'x-forwarded-for': address } }, as)).statusCode;
  assert.equal(await forwarded('192.0.2.9', '127.0.0.1'), 200);
  assert.equal(await forwarded('192.0.3.9', '127.0.0.1'), 401);
  assert.equal(await forwarded('192.0.2.9', '198.51.100.1'), 401, 'only a proxy can name another address');
  const refusal = await send({ url, remoteAddress: '192.0.3.9' }, as);
  assert.match(refusal.json<ErrorBody>().message, /not accepted from your address, 192\.0\.3\.9/);
  const wrong = await send({ url, remoteAddress: '192.0.3.9' }, { ...as, secret: 'planted-wrong' });
  assert.doesNotMatch(wrong.body, /address/);
});

test('keys with the right secret that are refused are logged and audited with the reason', async () => {
  await auditRefusedCallers(app.context);
  const made = await create({ networks: ['192.0.2.0/24'] });
  await statusOf(keyOf(made), '203.0.113.5');
  const line = app.logged.findLast((each) => each.includes('credentials refused')) ?? '';
  const { keyId, reason } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([keyId, reason], [made.id, 'foreign network']);
  assert.ok(!line.includes(made.apiKeySecret));
  await auditRefusedCallers(app.context);
  const rows = await sql(
    "select entity_id, organization_id, details from audit_event where action = 'credentials.refused' order by number desc limit 2",
  );
  assert.deepEqual(rows, [
    {
      entity_id: made.id,
      organization_id: organizationId,
      details: { addresses: ['203.0.113.5'], count: 1, reasons: ['foreign network'] },
    },
    {
      entity_id: '203.0.113.5',
      organization_id: null,
      details: { failures: 1, unchecked: 0, keyIds: [made.id], reasons: { [made.id]: 'foreign network' } },
    },
  ]);
});

test('two secrets are valid while a key is rotated, each with its last use, and never three', async () => {
  const made = await create();
  const params = { id: made.id };
  const [first] = made.secrets;
  const second = await ok('addApiKeySecret', { params });
  assert.notEqual(second.apiKeySecret, made.apiKeySecret);
  await refused('addApiKeySecret', 409, /has two secrets/, { params });
  const [older, newer] = [keyOf(made), { id: made.apiKeyId, secret: second.apiKeySecret }];
  const both = Array.from({ length: 20 }, (_, index) => statusOf(index % 2 === 0 ? older : newer));
  assert.deepEqual(new Set(await Promise.all(both)), new Set([200]));
  const { secrets, lastUsedAt } = await ok('getApiKey', { params });
  assert.deepEqual(fieldOf(secrets, 'id'), [first?.id, second.id]);
  assert.ok(secrets.every((secret) => secret.lastUsedAt !== null) && lastUsedAt !== null);
  const secretId = first?.id ?? '';
  assert.deepEqual(await ok('deleteApiKeySecret', { params: { ...params, secretId } }), {
    id: secretId,
  });
  assert.deepEqual([await statusOf(older), await statusOf(newer)], [401, 200]);
  const [left] = (await ok('getApiKey', { params })).secrets;
  assert.deepEqual([left?.id, left?.createdAt], [second.id, second.createdAt]);
  await refused('deleteApiKeySecret', 404, { params: { ...params, secretId } });
  await refused('deleteApiKeySecret', 409, /only secret/, { params: { ...params, secretId: second.id } });
  const third = await ok('addApiKeySecret', { params });
  await ok('deleteApiKeySecret', { params: { ...params, secretId: third.id } });
  assert.deepEqual(
    [await statusOf({ ...newer, secret: third.apiKeySecret }), await statusOf(newer)],
    [401, 200],
  );
});

test('of several requests for a second secret at once, one gets it', async () => {
  const { id } = await create();
  const calls = Array.from({ length: 5 }, () => call('addApiKeySecret', { id }));
  const statuses = (await Promise.all(calls)).map(({ statusCode }) => statusCode);
  assert.deepEqual(statuses.toSorted(), [200, 409, 409, 409, 409]);
});

test('what is revoked on one server is refused by another with the next request', async (t) => {
  const events = await Events.open(app.database.address, app.context.log);
  const other = await buildApp({ ...app.context, events }, families);
  t.after(async () => {
    await closeApp(other, 0);
    await events[Symbol.asyncDispose]();
  });
  const there = async (as: { id: string; secret: string }, path = '/organizations') =>
    (await other.inject({ url: `/api${path}`, headers: { authorization: basic(as) } })).statusCode;
  const made = await create();
  const key = keyOf(made);
  const path = `/projects/${app.projectId}`;
  assert.deepEqual([await statusOf(key), await there(key, path)], [200, 200]);
  const second = await ok('addApiKeySecret', { id: made.id });
  assert.equal(await there({ ...key, secret: second.apiKeySecret }), 200);
  await ok('deleteApiKeySecret', { params: { id: made.id, secretId: made.secrets[0]?.id ?? '' } });
  assert.equal(await there(key), 401);
  const rotated = { ...key, secret: second.apiKeySecret };
  assert.equal(await there(rotated, path), 200);
  await ok('updateApiKey', { id: made.id, body: { networks: ['192.0.2.1'] } });
  assert.equal(await there(rotated, path), 401);
  await ok('updateApiKey', { id: made.id, body: { networks: [] } });
  await sql("update organization_member set role = 'User' where user_id = $1", made.id);
  assert.equal(await there(rotated, path), 403);
  await ok('deleteApiKey', { id: made.id });
  assert.equal(await there(rotated, path), 401);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { covers } from '#contract/documents/coverage.ts';
import { agentSettings } from '#settings/agent.ts';
import { readProgramSettings } from '#settings/settings.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, call, ok, refused, sql, add } = await startTests({
  ENVARIUM_BASE_URL: 'https://envarium.example/base',
});
const admin = await app.addKey({ [organizationId]: 'Admin' });
const member = await app.addKey({ [organizationId]: 'User' });
const logs = { dynamo: { selfHosted: { accountId: '1', region: 'eu-west-1', externalId: 'x' } } };

const paramsOf = ({ agentKey }: { readonly agentKey: string }) => ({ agentKey });

test('fields that are sent change, the others stay, and null clears', async () => {
  covers('updateAgent', 'body.name', 'body.description', 'body.logs', 'reply');
  const made = await add('Agent', 'east', { description: 'next to it', logs });
  const params = paramsOf(made);
  app.advance(1);
  const renamed = await ok('updateAgent', { params, body: { name: 'west' }, as: admin });
  assert.deepEqual([renamed.name, renamed.description, renamed.logs], ['west', 'next to it', logs]);
  assert.ok((renamed.updatedAt ?? '') > (made.updatedAt ?? ''));
  // By its id, too.
  const byId = { agentKey: made.id ?? '' };
  const described = await ok('updateAgent', { params: byId, body: { description: 'moved' }, as: admin });
  assert.deepEqual([described.name, described.description], ['west', 'moved']);
  const cleared = await ok('updateAgent', { params, body: { description: null, logs: null }, as: admin });
  assert.deepEqual([cleared.name, cleared.description, cleared.logs], ['west', undefined, undefined]);
  assert.deepEqual(await ok('getAgent', { params }), cleared);
  const entries = await sql<{ before: object; after: object }>(
    "select before, after from audit_event where entity_id = $1 and action = 'agent.updated' order by number",
    made.id,
  );
  assert.deepEqual(entries, [
    { before: { name: 'east' }, after: { name: 'west' } },
    { before: { description: 'next to it' }, after: { description: 'moved' } },
    { before: { description: 'moved', logs }, after: { description: null, logs: null } },
  ]);
});

test('a refused change leaves the agent as it was', async () => {
  await add('Agent', 'taken');
  const agent = await add('Agent', 'refused', { description: 'kept' });
  const params = paramsOf(agent);
  const before = await ok('getAgent', { params });
  for (const [body, status, pattern] of [
    [{ name: 'taken' }, 409, /"taken" already exists/],
    [{ name: ' ' }, 400, /\/body\/name/],
    [{ isDefault: true }, 400, /isDefault/],
    [{ name: 'other', organizationId }, 400, /organizationId/],
    [{ logs: { s3: {} } }, 400, /logs.*s3/],
    [{ description: 'x'.repeat(4001) }, 400, /description/],
  ] as const)
    await refused('updateAgent', status, pattern, { params, body, as: admin });
  await refused('updateAgent', 403, { params, body: { name: 'other' }, as: member });
  await refused('updateAgent', 404, { params: { agentKey: 'NOBODY' }, body: { name: 'other' }, as: admin });
  assert.deepEqual(await ok('getAgent', { params }), before);
  // Its own name is free for it.
  assert.equal((await ok('updateAgent', { params, body: { name: 'refused' }, as: admin })).name, 'refused');
});

test('of two changes of one version, one is carried out', async () => {
  const params = paramsOf(await add('Agent', 'versioned'));
  const tag = String((await call('getAgent', { params })).headers.etag);
  const replies = await Promise.all(
    [admin, app.admin].map((as, at) =>
      call('updateAgent', { params, body: { name: `versioned ${at}` }, headers: { 'if-match': tag }, as }),
    ),
  );
  assert.deepEqual(replies.map(({ statusCode }) => statusCode).toSorted(), [200, 412]);
});

test('the shared agent is shown to every organization under any of its names, and changed by the operator', async () => {
  const founder = await app.addKey();
  const { id: other } = await ok('createOrganization', { body: { name: 'Elsewhere' }, as: founder });
  for (const agentKey of ['ENVARIUM_DEFAULT', 'BRAND_DEFAULT']) {
    const params = { agentKey };
    const { isSaas, isDefault, createdBy, createdByUser, ...shown } = await ok('getAgent', {
      params,
      as: founder,
    });
    assert.deepEqual([shown.agentKey, shown.organizationId], ['ENVARIUM_DEFAULT', other]);
    assert.deepEqual([isSaas, isDefault, createdBy], [true, true, 'envarium']);
    assert.equal(createdByUser?.user_id, 'envarium');
    await refused('updateAgent', 403, /only the operator/, { params, body: { name: 'mine' }, as: admin });
    await refused('updateAgent', 404, { params, body: { name: 'mine' }, as: founder });
    assert.equal((await ok('updateAgent', { params, body: { name: agentKey } })).name, agentKey);
  }
});

test('an agent of another organization, or a deleted one, is not there', async () => {
  const params = paramsOf(await add('Agent', 'foreign'));
  const founder = await app.addKey();
  await ok('createOrganization', { body: { name: 'Others' }, as: founder });
  for (const name of ['getAgent', 'getAgentValues', 'getAgentDotenv'] as const)
    await refused(name, 404, { params, as: founder });
  await refused('updateAgent', 404, { params, body: { name: 'mine' }, as: founder });
  assert.equal((await ok('getAgent', { params, as: member })).isSaas, false);
  await ok('deleteAgent', { params });
  await refused('getAgent', 404, { params });
  await refused('updateAgent', 404, { params, body: { name: 'mine' } });
});

test('the settings of an agent start it as they are, with the secret', async () => {
  const { agentKey } = await add('Agent', 'started elsewhere');
  const read = (environment: NodeJS.Dict<string>) => {
    const { ENVARIUM_AGENT_SECRET_FILE: _, ...given } = environment;
    const values = readProgramSettings(agentSettings, { ...given, ENVARIUM_AGENT_SECRET: 's' });
    return [values.serverUrls, values.agentKey, values.spoolFolder, values.workFolder, values.isolation];
  };
  const dotenv = await call('getAgentDotenv', { params: { agentKey }, as: member });
  assert.equal(dotenv.headers['content-type'], 'text/plain; charset=utf-8');
  const folders = ['/var/lib/envarium-agent/spool', '/var/lib/envarium-agent/work'];
  const address = ['https://envarium.example/base'];
  assert.deepEqual(read(parseEnv(dotenv.body)), [address, agentKey, ...folders, 'required']);
  const yaml = await call('getAgentValues', { params: { agentKey }, as: member });
  assert.equal(yaml.headers['content-type'], 'text/yaml; charset=utf-8');
  const values = parse(yaml.body) as { agentKey: string; agentAccessToken: string; env: object };
  assert.deepEqual([values.agentKey, values.agentAccessToken], [agentKey, '']);
  assert.deepEqual(read({ ...values.env }), [address, agentKey, ...folders, 'auto']);
});

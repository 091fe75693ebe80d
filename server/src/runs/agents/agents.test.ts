import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { addAgent, TestAgent, testAgent } from '../../../testing/agent.ts';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, call, ok, refused, sql } = await startTests();

test('an agent is active while it is in contact', async () => {
  const seen = async () =>
    (await ok('listAgents', { query: { organizationId: app.organizationId } })).map(
      ({ agentKey, status, isDefault }) => ({
        agentKey,
        status,
        isDefault,
      }),
    );
  assert.deepEqual(await seen(), [{ agentKey: 'ENVARIUM_DEFAULT', status: 'INACTIVE', isDefault: true }]);
  const agent = await testAgent(app);
  assert.equal((await seen())[0]?.status, 'ACTIVE');
  app.advance(21);
  assert.equal((await seen())[0]?.status, 'INACTIVE');
  await agent.heartbeat([]);
  assert.equal((await seen())[0]?.status, 'ACTIVE');
  await agent.goodbye();
  assert.equal((await seen())[0]?.status, 'INACTIVE');
});

test('a secret is shown once, serves an agent, and is found by the key and by the id', async () => {
  covers('createAgentSecret');
  covers('createAgentSecret', 'body.description', 'reply');
  covers('AgentSecret', 'secret', 'createdBy', 'agentId', 'id', 'description', 'createdAt');
  const [known] = await ok('listAgents');
  const byKey = await ok('createAgentSecret', {
    params: { agentKey: 'ENVARIUM_DEFAULT' },
    body: { description: 'second host' },
  });
  assert.deepEqual(
    [byKey.agentId, byKey.createdBy.user_id, byKey.description],
    [known?.id, 'admin', 'second host'],
  );
  assert.match(byKey.id ?? '', /^[0-9a-f-]{36}$/);
  assert.ok(Math.abs(Date.parse(byKey.createdAt ?? '') - Date.now()) < 60_000);
  assert.equal(Buffer.from(byKey.secret, 'base64url').length, 32);
  const byId = await ok('createAgentSecret', { params: { agentKey: known?.id ?? '' } });
  assert.notEqual(byId.secret, byKey.secret);
  for (const secret of [byKey.secret, byId.secret])
    assert.ok((await new TestAgent(app, secret).register()).agentId);
  await assert.rejects(new TestAgent(app, 'wrong').register(), /401/);
  const rows = await sql<{ text: string }>('select s::text as text from agent_secret s');
  assert.ok(rows.length >= 2 && rows.every(({ text }) => !text.includes(byKey.secret)));
  await refused('createAgentSecret', 404, { params: { agentKey: 'NOBODY' } });
  for (const { id: secretId = '' } of [byKey, byId])
    await ok('deleteAgentSecret', { params: { agentKey: 'ENVARIUM_DEFAULT', secretId } });
});

test('only the operator creates secrets for an agent that all organizations share', async () => {
  const secrets = async () => (await sql<{ count: string }>('select count(*) from agent_secret'))[0]?.count;
  const before = await secrets();
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  const { message } = await refused('createAgentSecret', 403, { params, as: admin });
  assert.match(message, /ENVARIUM_DEFAULT runs deployments of all organizations: only the operator/);
  const founder = await app.addKey();
  await ok('createOrganization', { body: { name: 'Other' }, as: founder });
  await refused('createAgentSecret', 404, { params, as: founder });
  assert.equal(await secrets(), before);
});

test('an admin creates secrets for the agents of the organization', async () => {
  await addAgent(app, 'OWN', app.organizationId);
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  const { secret } = await ok('createAgentSecret', { params: { agentKey: 'OWN' }, as: admin });
  assert.ok((await new TestAgent(app, secret, 'OWN').register()).agentId);
});

test('agents cannot use the credentials of a person, and people cannot use those of an agent', async () => {
  await assert.rejects(new TestAgent(app, app.admin.secret).register(), /401/);
  const { secret } = await ok('createAgentSecret', { params: { agentKey: 'ENVARIUM_DEFAULT' } });
  await refused('listAgents', 401, { as: { id: 'ENVARIUM_DEFAULT', secret } });
});

test('an agent of one key cannot speak for a process of another', async () => {
  const agent = await testAgent(app);
  await addAgent(app, 'OTHER', app.organizationId);
  await sql("update agent_process set agent_key = 'OTHER' where id = $1", agent.agentId);
  assert.equal((await agent.send('claim', {}, { epoch: agent.epoch, waitSeconds: 0 })).statusCode, 401);
});

const isolation = {
  hasNamespaces: true,
  hasSystemCallFilter: true,
  hasOwnUsers: true,
  network: 'host',
  hasControlGroups: true,
  controllers: ['pids', 'memory'],
  limits: { processes: 1, openFiles: 2, memoryMegabytes: 3, diskMegabytes: 4, fileMegabytes: 5 },
};

test('an agent shows what confines the runs of each of its processes', async () => {
  await addAgent(app, 'CONFINED', app.organizationId);
  const { secret } = await ok('createAgentSecret', { params: { agentKey: 'CONFINED' } });
  const first = new TestAgent(app, secret, 'CONFINED');
  await first.register([], { hostname: 'a', isolation });
  const weak = { ...isolation, hasNamespaces: false, problem: 'bubblewrap is not installed' };
  await first.sibling().register([], { hostname: 'b', isolation: weak });
  const seen = async () =>
    (await ok('listAgents')).find(({ agentKey }) => agentKey === 'CONFINED')?.processes;
  assert.deepEqual(fieldsOf(await seen(), 'hostname', 'version', 'isolation'), [
    ['a', '0.1.0', isolation],
    ['b', '0.1.0', weak],
  ]);
  await first.register([], { hostname: 'a', isolation: weak });
  assert.deepEqual((await seen())?.[0]?.isolation, weak);
  app.advance(21);
  assert.deepEqual(await seen(), []);
});

test('only the operator sees on which machines a shared agent runs, and who made it', async () => {
  await testAgent(app);
  await sql("update agent set created_by = 'admin' where is_shared");
  const shared = async (as?: Awaited<ReturnType<typeof app.addKey>>) => {
    const agents = await ok('listAgents', as === undefined ? {} : { as });
    const { createdBy, processes = [] } =
      agents.find(({ agentKey }) => agentKey === 'ENVARIUM_DEFAULT') ?? {};
    return [createdBy, processes[0]?.hostname, processes.length > 0];
  };
  assert.deepEqual(await shared(), ['admin', 'host', true]);
  const other = await shared(await app.addKey({ [app.organizationId]: 'Admin' }));
  assert.deepEqual(other, ['envarium', undefined, true]);
});

test('an admin creates an agent that works for the organization only, and the trail records it', async () => {
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  const body = { organizationId: app.organizationId, name: 'cloud-a', description: 'next to it' };
  const made = await ok('createAgent', { body, as: admin });
  assert.deepEqual(
    [made.name, made.description, made.status, made.isDefault],
    ['cloud-a', 'next to it', 'INACTIVE', false],
  );
  const { secret } = await ok('createAgentSecret', { params: { agentKey: made.agentKey }, as: admin });
  assert.ok((await new TestAgent(app, secret, made.agentKey).register()).agentId);
  await refused('createAgent', 409, /already exists/, { body, as: admin });
  const reader = await app.addKey({ [app.organizationId]: 'Reader' });
  await refused('createAgent', 403, { body: { ...body, name: 'b' }, as: reader });
  const rows = await sql(
    "select a.is_shared, e.details from agent a join audit_event e on e.entity_id = a.id::text and action = 'agent.created'",
  );
  assert.deepEqual(rows, [{ is_shared: false, details: { name: 'cloud-a', agentKey: made.agentKey } }]);
});

test('the agent that all organizations share is listed for each of them', async () => {
  const founder = await app.addKey();
  const { id: organizationId } = await ok('createOrganization', { body: { name: 'Third' }, as: founder });
  const own = await ok('createAgent', { body: { organizationId, name: 'own' }, as: founder });
  for (const query of [{ organizationId }, {}] as Record<string, string>[])
    assert.deepEqual(
      (await ok('listAgents', { query, as: founder })).map((each) => [
        each.agentKey,
        each.organizationId,
        each.isDefault,
      ]),
      [
        [own.agentKey, organizationId, false],
        ['ENVARIUM_DEFAULT', organizationId, true],
      ],
    );
  const both = await app.addKey({ [app.organizationId]: 'Admin', [organizationId]: 'Admin' });
  const shared = (await ok('listAgents', { as: both })).filter(({ isDefault }) => isDefault);
  assert.deepEqual(
    shared.map((each) => each.organizationId).toSorted(),
    [app.organizationId, organizationId].toSorted(),
    'once for each organization of the caller',
  );
  const body = {
    organizationId,
    name: 'by id',
    type: 'GitHubEnterprise' as const,
    url: 'https://git.example',
  };
  const { vcsAgentKey } = await ok('createVcsConnection', {
    body: { ...body, vcsAgentKey: shared[0]?.id ?? '' },
    as: founder,
  });
  assert.equal(vcsAgentKey, shared[0]?.id);
  await refused('createVcsConnection', 400, {
    body: { ...body, name: 'foreign', organizationId: app.organizationId, vcsAgentKey: own.agentKey },
  });
});

test('any name that ends in _DEFAULT names the default agent', async () => {
  const { id = '' } = (await ok('listAgents')).find(({ isDefault }) => isDefault) ?? {};
  for (const agentKey of ['ENVARIUM_DEFAULT', 'BRAND_DEFAULT', '_DEFAULT']) {
    const params = { agentKey };
    const made = await ok('createAgentSecret', { params });
    assert.equal(made.agentId, id, agentKey);
    const secretId = made.id ?? '';
    assert.ok((await ok('listAgentSecrets', { params })).some((each) => each.id === secretId));
    await ok('deleteAgentSecret', { params: { agentKey, secretId }, query: { force: 'true' } });
    await refused('deleteAgent', 409, /ENVARIUM_DEFAULT belongs to the installation/, { params });
  }
  for (const agentKey of ['DEFAULT', 'BRAND_DEFAULT_1', 'brand_default'])
    await refused('listAgentSecrets', 404, { params: { agentKey } });
});

test('an agent keeps where its logs are wanted, with a warning that nothing reads it', async () => {
  const { organizationId } = app;
  const logs = { dynamo: { selfHosted: { accountId: '1', region: 'eu-west-1', externalId: 'x' } } };
  const create = (body: object) =>
    call('createAgent', { body: { organizationId, ...body } as { organizationId: string; name: string } });
  const made = await create({ name: 'with logs', logs });
  assert.deepEqual(made.json<{ logs?: unknown }>().logs, logs);
  assert.match(
    String(made.headers['x-envarium-warning']),
    /^logs is stored but has no effect yet: the service itself stores the logs of all agents\.$/,
  );
  const listed = await ok('listAgents', { query: { organizationId } });
  assert.deepEqual(listed.find(({ name }) => name === 'with logs')?.logs, logs);
  const without = await create({ name: 'without logs', logs: null });
  assert.deepEqual([without.statusCode, without.headers['x-envarium-warning']], [200, undefined]);
  assert.ok(!('logs' in without.json<object>()));
  const wrong = await create({ name: 'wrong', logs: { dynamo: { selfHosted: { region: 1 } } } });
  assert.equal(wrong.statusCode, 400);
  assert.match(wrong.body, /body\/logs\/dynamo\/selfHosted/);
});

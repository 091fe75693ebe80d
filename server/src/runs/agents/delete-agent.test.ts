import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { until } from '../../../../tools/suite/until.ts';
import { TestAgent } from '../../../testing/agent.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, sql, createEnvironment, deploymentOf, forgetWork } = await startTests();
beforeEach(() => forgetWork());
const admin = await app.addKey({ [app.organizationId]: 'Admin' });
let made = 0;

/** An agent of the organization with one secret and one process. */
async function createAgent() {
  made++;
  const body = { organizationId: app.organizationId, name: `agent ${made}` };
  const { agentKey, id = '' } = await ok('createAgent', { body, as: admin });
  const params = { agentKey };
  const secret = await ok('createAgentSecret', { params, body: { description: 'host' }, as: admin });
  const agent = new TestAgent(app, secret.secret, agentKey);
  await agent.register();
  return { agentKey, id, params, secretId: secret.id ?? '', agent };
}

async function audited(id: string) {
  const rows = await sql<{ action: string; details: unknown }>(
    'select action, details from audit_event where entity_id = $1 order by number',
    id,
  );
  return rows;
}

test('a deleted agent is not shown, is refused at its next call, and leaves its name to another one', async () => {
  const { agentKey, id, params, agent } = await createAgent();
  const reader = await app.addKey({ [app.organizationId]: 'Reader' });
  await refused('deleteAgent', 403, { params, as: reader });
  assert.deepEqual(await ok('deleteAgent', { params, as: admin }), { id });
  assert.ok(!(await ok('listAgents')).some((each) => each.agentKey === agentKey));
  await assert.rejects(agent.register(), /401/);
  await refused('deleteAgent', 404, { params, as: admin });
  await refused('createAgentSecret', 404, { params, as: admin });
  const body = { organizationId: app.organizationId, name: `agent ${made}` };
  assert.notEqual((await ok('createAgent', { body, as: admin })).agentKey, agentKey);
  assert.deepEqual((await audited(id)).at(-1), {
    action: 'agent.deleted',
    details: { name: `agent ${made}`, agentKey, isForced: false },
  });
});

test('an agent with runs is deleted only if that is forced, and its run goes to another agent', async () => {
  const { params, agent } = await createAgent();
  const environment = await createEnvironment();
  await agent.claim();
  await refused('deleteAgent', 409, /has 1 run, .*force=true/, { params, as: admin });
  await ok('deleteAgent', { params, query: { force: 'true' }, as: admin });
  assert.equal((await agent.send('heartbeat', {}, { attempts: [] })).statusCode, 401);
  const deployment = await deploymentOf(environment.latestDeploymentLogId ?? '');
  assert.equal(deployment.status, 'IN_PROGRESS');
});

test("only the operator manages the shared agent's secrets, and no one deletes that agent", async () => {
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  for (const as of [admin, app.admin]) {
    const { message } = await refused('deleteAgent', as === admin ? 403 : 409, { params, as });
    assert.match(message, as === admin ? /only the operator/ : /ENVARIUM_BUILT_IN_AGENT=false/);
  }
  await refused('listAgentSecrets', 403, { params, as: admin });
  const { id = '' } = await ok('createAgentSecret', { params });
  await refused('deleteAgentSecret', 403, { params: { ...params, secretId: id }, as: admin });
  assert.ok((await ok('listAgentSecrets', { params })).some((each) => each.id === id));
});

test('secrets are listed without their values, and a deleted one is refused at the next call', async () => {
  const { params, id, secretId, agent } = await createAgent();
  const other = await ok('createAgentSecret', { params, as: admin });
  const listed = await ok('listAgentSecrets', { params: { agentKey: id }, as: admin });
  assert.deepEqual(
    listed.map(({ id, description }) => ({ id, description })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    [
      { id: secretId, description: 'host' },
      { id: other.id, description: undefined },
    ],
  );
  assert.ok(!JSON.stringify(listed).includes(other.secret));
  const target = { ...params, secretId };
  await refused('deleteAgentSecret', 404, { params: { ...params, secretId: randomUUID() }, as: admin });
  assert.deepEqual(await ok('deleteAgentSecret', { params: target, as: admin }), { id: secretId });
  await assert.rejects(agent.register(), /401/);
  await refused('deleteAgentSecret', 404, { params: target, as: admin });
  assert.deepEqual((await audited(id)).at(-1), {
    action: 'agent.secretDeleted',
    details: { secretId, description: 'host' },
  });
});

test('a claim that waits while its agent is deleted, refused or replaced gets no job', async (t) => {
  const ways = {
    deleted: ({ params }) => ok('deleteAgent', { params, as: admin }),
    refused: ({ params, secretId }) =>
      ok('deleteAgentSecret', { params: { ...params, secretId }, as: admin }),
    replaced: ({ agent }) => agent.register(),
  } satisfies Record<string, (created: Awaited<ReturnType<typeof createAgent>>) => Promise<unknown>>;
  for (const [way, act] of Object.entries(ways)) {
    const created = await createAgent();
    const { mock } = t.mock.method(app.context.events, 'waitFor');
    const waiting = created.agent.claimAny(2);
    // The call was accepted.
    await until('the call', () => mock.callCount() > 0);
    await act(created);
    await createEnvironment();
    assert.equal(await waiting, null, way);
    t.mock.restoreAll();
    await forgetWork();
  }
});

test('the last secret of an agent with runs is deleted only if that is forced', async () => {
  const { params, secretId, agent } = await createAgent();
  await createEnvironment();
  await agent.claim();
  const target = { ...params, secretId };
  await refused('deleteAgentSecret', 409, { params: target, as: admin });
  await ok('deleteAgentSecret', { params: target, query: { force: 'true' }, as: admin });
  assert.deepEqual(await ok('listAgentSecrets', { params, as: admin }), []);
});

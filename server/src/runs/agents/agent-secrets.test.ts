import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, TestAgent, testAgent } from '../../../testing/agent.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, createEnvironment } = await startTests();
let made = 0;

async function createAgent() {
  const agentKey = `AGENT_${++made}`;
  await addAgent(app, agentKey, app.organizationId);
  return { params: { agentKey } };
}

const after = (seconds: number) => new Date(app.context.now().getTime() + seconds * 1000).toISOString();

test('an agent has at most two secrets that are valid: one in use, and one that replaces it', async () => {
  const { params } = await createAgent();
  const first = await ok('createAgentSecret', { params, body: { expiresAt: after(60) } });
  await ok('createAgentSecret', { params });
  const { message } = await refused('createAgentSecret', 409, { params });
  assert.match(
    message,
    /has 2 valid secrets, which is the most: delete the one that is no longer used first/,
  );
  app.advance(61);
  await ok('createAgentSecret', { params });
  const listed = await ok('listAgentSecrets', { params });
  assert.equal(listed.length, 3, 'one that has ended is listed until it is deleted');
  assert.equal(listed.find(({ id }) => id === first.id)?.expiresAt, first.expiresAt);
  await refused('createAgentSecret', 409, { params });
});

test('of two secrets that are requested at once where one is left, one is refused', async () => {
  const { params } = await createAgent();
  await ok('createAgentSecret', { params });
  const both = await Promise.allSettled([
    ok('createAgentSecret', { params }),
    ok('createAgentSecret', { params }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

test('the secrets of the service for its own agents leave room for others', async () => {
  for (let index = 0; index < 3; index++) await testAgent(app);
  const params = { agentKey: 'ENVARIUM_DEFAULT' };
  const { id = '' } = await ok('createAgentSecret', { params });
  await ok('deleteAgentSecret', { params: { ...params, secretId: id } });
});

test('a secret shows its end and its last use; an end that has passed is refused', async () => {
  const { params } = await createAgent();
  for (const [expiresAt, pattern] of [
    [after(-1), /expiresAt must be in the future/],
    ['tomorrow', /expiresAt/],
  ] as const)
    await refused('createAgentSecret', 400, pattern, { params, body: { expiresAt } });
  const expiresAt = after(20 * 86_400);
  const { secret, id } = await ok('createAgentSecret', { params, body: { expiresAt } });
  const listed = async () => (await ok('listAgentSecrets', { params })).find((each) => each.id === id);
  assert.deepEqual([(await listed())?.expiresAt, (await listed())?.lastUsedAt], [expiresAt, undefined]);
  const agent = new TestAgent(app, secret, params.agentKey);
  await agent.register();
  assert.ok((await listed())?.lastUsedAt);
  const problems = async () => (await ok('getAgent', { params })).health?.problems.join() ?? '';
  assert.doesNotMatch(await problems(), /Its secret ends/);
  app.advance(7 * 86_400);
  await agent.heartbeat([]);
  assert.match(await problems(), /Its secret ends at .*: create another one/);
});

test('the last secret that is valid is not deleted under a run, and one that has ended is', async () => {
  const { params } = await createAgent();
  const ending = await ok('createAgentSecret', { params, body: { expiresAt: after(60) } });
  const { secret, id = '' } = await ok('createAgentSecret', { params });
  const agent = new TestAgent(app, secret, params.agentKey);
  await agent.register();
  app.advance(61);
  await createEnvironment();
  await agent.claim();
  await refused('deleteAgentSecret', 409, /has 1 run/, { params: { ...params, secretId: id } });
  await ok('deleteAgentSecret', { params: { ...params, secretId: ending.id ?? '' } });
});

test('of the last two secrets, which are deleted at once under a run, one stays', async () => {
  const { params } = await createAgent();
  const other = await ok('createAgentSecret', { params });
  const { secret, id = '' } = await ok('createAgentSecret', { params });
  const agent = new TestAgent(app, secret, params.agentKey);
  await agent.register();
  await createEnvironment();
  await agent.claim();
  const both = await Promise.allSettled(
    [id, other.id ?? ''].map((secretId) => ok('deleteAgentSecret', { params: { ...params, secretId } })),
  );
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InjectOptions } from 'fastify';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import { protocolBase, protocolRoutes } from '#protocol/routes.ts';
import { addAgent, plannedOutcome, TestAgent } from '../../../testing/agent.ts';
import { basic } from '../../../testing/client.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, createEnvironment } = await startTests();
let made = 0;

/** A registered agent of the organization, with its secret. */
async function startAgent(body: { expiresAt?: string } = {}) {
  const agentKey = `AGENT_${++made}`;
  await addAgent(app, agentKey, app.organizationId);
  const { secret, id: secretId = '' } = await ok('createAgentSecret', { params: { agentKey }, body });
  const agent = new TestAgent(app, secret, agentKey);
  const { token } = await agent.register();
  return { agentKey, secret, secretId, agent, token };
}

type Started = Awaited<ReturnType<typeof startAgent>>;

/** A heartbeat with any credentials. */
async function beat(authorization: string, { agent }: Pick<Started, 'agent'>, epoch = agent.epoch) {
  const options: InjectOptions = {
    method: 'POST',
    url: `${protocolBase}${protocolRoutes.heartbeat.path}`,
    headers: {
      authorization,
      'x-envarium-agent': agent.agentId,
      'x-envarium-epoch': String(epoch),
      'content-type': 'application/json',
    },
    payload: JSON.stringify({ epoch, held: [], freeSlots: 1 }),
  };
  const { statusCode, body } = await app.app.inject(options);
  return { statusCode, body };
}

const lastUse = async ({ agentKey }: Started) =>
  (await ok('listAgentSecrets', { params: { agentKey } }))[0]?.lastUsedAt;

test('a process exchanges its secret for a token of an hour, and calls with nothing else', async () => {
  const one = await startAgent();
  assert.equal(one.token.expiresInSeconds, 3600);
  assert.ok(!one.token.token.includes(one.secret));
  assert.equal((await beat(`Bearer ${one.token.token}`, one)).statusCode, 200);
  const withSecret = await beat(basic({ id: one.agentKey, secret: one.secret }), one);
  assert.equal(withSecret.statusCode, 401);
  assert.match(withSecret.body, /exchange the secret of the agent for a token/);
  const used = await lastUse(one);
  assert.ok(Math.abs(Date.parse(used ?? '') - app.context.now().getTime()) < 60_000);
  app.advance(3590);
  assert.equal((await beat(`Bearer ${one.token.token}`, one)).statusCode, 200);
  app.advance(11);
  const ended = await beat(`Bearer ${one.token.token}`, one);
  assert.equal(ended.statusCode, 401);
  assert.match(ended.body, /The token has ended/);
  await one.agent.heartbeat([]);
  assert.ok(((await lastUse(one)) ?? '') > (used ?? ''), 'the exchange is a use of the secret');
});

test('nobody makes a token, or changes one', async () => {
  const one = await startAgent();
  const other = await startAgent();
  const text = Buffer.from(one.token.token, 'base64').toString();
  const [, claims = ''] = /:(.+)\.[^.]+$/.exec(text) ?? [];
  const [agentId = '', , secretId = '', seconds = ''] = claims.split('.');
  const forged = {
    'a later end': text.replace(seconds, String(Number(seconds) + 3600)),
    'another epoch': text.replace(`${agentId}.1.`, `${agentId}.2.`),
    'another process': text.replace(agentId, other.agent.agentId),
    'another secret': text.replace(secretId, other.secretId),
    'another agent': text.replace(one.agentKey, other.agentKey),
    'no code': text.slice(0, text.lastIndexOf('.')),
    'an empty code': text.slice(0, text.lastIndexOf('.') + 1),
    nothing: `${one.agentKey}:`,
  };
  for (const [what, changed] of Object.entries(forged)) {
    assert.notEqual(changed, text, what);
    const header = `Bearer ${Buffer.from(changed).toString('base64')}`;
    assert.equal((await beat(header, one)).statusCode, 401, what);
  }
});

test('a token serves the process that it was issued for, until that is replaced', async () => {
  const one = await startAgent();
  const sibling = one.agent.sibling();
  await sibling.register();
  const foreign = await beat(`Bearer ${one.token.token}`, { agent: sibling });
  assert.equal(foreign.statusCode, 401);
  assert.match(foreign.body, /issued for another process/);
  // A second process on the same spool.
  await one.agent.register();
  const former = await beat(`Bearer ${one.token.token}`, one, one.agent.epoch - 1);
  assert.match(former.body, /epoch_replaced/);
  const pretending = await beat(`Bearer ${one.token.token}`, one);
  assert.deepEqual(
    [pretending.statusCode, /another process/.test(pretending.body)],
    [401, true],
    'the number of the new epoch does not help',
  );
  await one.agent.heartbeat([]);
});

test('the token of one process does not reach the attempts of another one with the same secret', async () => {
  const one = await startAgent();
  const sibling = one.agent.sibling();
  await sibling.register();
  await createEnvironment();
  const job = await one.agent.claim();
  const fence = { fence: job.fence };
  const calls = {
    mark: () => sibling.send('mark', job, { ...fence, mark: 'm'.repeat(32) }),
    report: () => sibling.send('report', job, { ...fence, eventsFrom: 0, events: [], logs: [] }),
    finish: () => sibling.send('finish', job, { ...fence, outcome: plannedOutcome() }),
    getBlob: () => sibling.send('getBlob', { ...job, blob: 'plan', query: { fence: String(job.fence) } }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const { statusCode, body } = await call();
    assert.equal(statusCode, 409, name);
    assert.match(body, /belongs to another process/, name);
  }
  const held: HeldAttempt = { jobId: job.jobId, attempt: job.attempt, fence: job.fence };
  assert.deepEqual((await sibling.heartbeat([held])).unwanted, [held]);
  assert.deepEqual((await one.agent.heartbeat([held])).unwanted, []);
});

test('tokens end with their secret, at once: deleted or at its end', async () => {
  const end = new Date(app.context.now().getTime() + 600_000).toISOString();
  const one = await startAgent({ expiresAt: end });
  assert.ok(one.token.expiresInSeconds <= 600 && one.token.expiresInSeconds > 590);
  app.advance(601);
  assert.equal((await beat(`Bearer ${one.token.token}`, one)).statusCode, 401);
  const late = await one.agent.send('token', {});
  assert.equal(late.statusCode, 401);
  assert.match(late.body, /The secret of the agent ended at/);
  await assert.rejects(one.agent.register(), /401/);

  const other = await startAgent();
  const params = { agentKey: other.agentKey, secretId: other.secretId };
  await ok('deleteAgentSecret', { params });
  const revoked = await beat(`Bearer ${other.token.token}`, other);
  assert.equal(revoked.statusCode, 401);
  assert.match(revoked.body, /is deleted or has ended/);
  assert.equal((await other.agent.send('token', {})).statusCode, 401);
});

test('tokens that have ended do not count as guesses of their address', async () => {
  const one = await startAgent();
  app.advance(3601);
  for (let index = 0; index < 100; index++)
    assert.equal((await beat(`Bearer ${one.token.token}`, one)).statusCode, 401);
  await one.agent.heartbeat([]);
});

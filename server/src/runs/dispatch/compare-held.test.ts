import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { answerSeconds } from '#protocol/messages/agent.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { untilTransactionWaits } from '../../../testing/locks.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { app, agent, sql, createEnvironment, forgetWork } = await startAgentTests();

beforeEach(() => forgetWork());

async function claimed(more: object = {}) {
  await createEnvironment(more);
  return agent.claim();
}

const codeOf = (response: { json: () => unknown }) => (response.json() as { code: string }).code;

test('lists from before the answer to a claim do not count against its attempt', async () => {
  const job = await claimed();
  for (let second = 5; second < answerSeconds; second += 5) {
    app.advance(5);
    await agent.heartbeat([]);
  }
  assert.equal(await agent.claimAny(), null);
  app.advance(5);
  await agent.heartbeat([]);
  assert.deepEqual((await agent.heartbeat([job])).unwanted, []);
  await agent.heartbeat([]);
  await agent.mark(job);
  await agent.finish(job, plannedOutcome());
});

test('a claim whose answer was lost is handed out again once the answer cannot arrive', async () => {
  const lost = await claimed();
  app.advance(answerSeconds);
  await agent.heartbeat([]);
  assert.equal(await agent.claimAny(), null);
  await agent.heartbeat([]);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt, again.fence > lost.fence], [lost.jobId, 2, true]);
  await agent.finish(again, plannedOutcome());
});

test('an agent killed before the folder is on disk loses its attempt with its second list', async () => {
  const lost = await claimed();
  app.advance(1);
  await agent.register([]);
  assert.equal(await agent.claimAny(), null);
  await agent.heartbeat([]);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt], [lost.jobId, 2]);
  await agent.finish(again, plannedOutcome());
});

test('an agent killed after the folder is on disk keeps its attempt', async () => {
  const job = await claimed();
  app.advance(1);
  assert.deepEqual((await agent.register([job])).unwanted, []);
  app.advance(answerSeconds);
  for (let list = 0; list < 3; list++) assert.deepEqual((await agent.heartbeat([job])).unwanted, []);
  await agent.mark(job);
  await agent.finish(job, plannedOutcome());
});

test('an attempt that starts although it was replaced can neither report nor mark', async () => {
  const late = await claimed();
  const other = agent.sibling();
  await other.register();
  app.advance(answerSeconds);
  await agent.heartbeat([]);
  await agent.heartbeat([]);
  for (const isClaimed of [false, true]) {
    if (isClaimed) assert.equal((await other.claim()).jobId, late.jobId);
    for (const [name, message] of [
      ['report', { eventsFrom: 0, events: [], logs: [] }],
      ['mark', { mark: 'x'.repeat(16) }],
      ['finish', { outcome: plannedOutcome() }],
    ] as const) {
      const response = await agent.send(name, late, { fence: late.fence, ...message });
      assert.deepEqual([response.statusCode, codeOf(response)], [409, 'fence_outdated'], name);
    }
    assert.deepEqual(fieldOf((await agent.heartbeat([late])).unwanted, 'fence'), [late.fence]);
  }
});

test('an apply whose handover was lost stays with its agent while the outcome is sent again', async () => {
  const job = await claimed({ requiresApproval: false });
  const outcome = plannedOutcome();
  const next = (await agent.finish(job, outcome)) ?? assert.fail('no apply');
  app.advance(answerSeconds);
  await agent.heartbeat([job]);
  assert.deepEqual(await agent.finish(job, outcome), next);
  app.advance(answerSeconds - 1);
  for (let list = 0; list < 3; list++) await agent.heartbeat([job]);
  await agent.mark(next);
});

test('an apply whose handover was lost with its agent is handed out again', async () => {
  const job = await claimed({ requiresApproval: false });
  const outcome = plannedOutcome();
  const next = (await agent.finish(job, outcome)) ?? assert.fail('no apply');
  app.advance(1);
  await agent.register([job]);
  await agent.heartbeat([job]);
  assert.equal(await agent.finish(job, outcome), null);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt], [next.jobId, 2]);
  assert.equal(
    codeOf(await agent.send('mark', next, { fence: next.fence, mark: 'x'.repeat(16) })),
    'fence_outdated',
  );
});

test('an agent is in contact while a run that it no longer has cannot be lost yet', async () => {
  const lost = await claimed();
  app.advance(answerSeconds);
  await agent.heartbeat([]);
  const contact = async () =>
    (await sql<{ at: Date }>('select max(contact_at) as at from agent_process'))[0]?.at;
  const before = await contact();
  const holder = await app.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from environment where id = $1 for update', [lost.environmentId]);
  app.advance(1);
  const beating = agent.heartbeat([]);
  await untilTransactionWaits(app.database);
  assert.ok(((await contact())?.getTime() ?? 0) > (before?.getTime() ?? 0));
  await holder.query('commit');
  holder.release();
  await beating;
  assert.equal((await agent.claim()).jobId, lost.jobId);
});

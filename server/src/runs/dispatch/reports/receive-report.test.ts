import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { covers } from '#contract/documents/coverage.ts';
import { answerSeconds } from '#protocol/messages/agent.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { fieldOf, fieldsOf } from '../../../../testing/fields.ts';
import { startAgentTests } from '../../../../testing/start.ts';

const { app, agent, ok, sql, createEnvironment, deploymentOf } = await startAgentTests();

async function running() {
  const environment = await createEnvironment();
  return { job: await agent.claim(), id: environment.latestDeploymentLogId ?? '' };
}

async function storedLog(deploymentId: string, step: string): Promise<Buffer> {
  const rows = await sql<{ first_byte: number; bytes: Buffer }>(
    'select first_byte, bytes from log_chunk join deployment_step s on s.id = step_id where deployment_id = $1 and name = $2 order by first_byte',
    deploymentId,
    step,
  );
  let next = 0;
  for (const row of rows) {
    assert.equal(row.first_byte, next, 'chunks follow each other');
    next += row.bytes.length;
  }
  return Buffer.concat(rows.map((row) => row.bytes));
}

const chunk = (step: string, offset: number, text: string | Buffer) => ({
  step,
  offset,
  base64: Buffer.from(text).toString('base64'),
});
const step = (name: string, status: 'IN_PROGRESS' | 'SUCCESS' | 'SKIPPED'): RunEvent => ({
  kind: 'step',
  at: new Date().toISOString(),
  step: name,
  status,
});
const resource = (name: string, status: 'started' | 'done' = 'done'): RunEvent => ({
  kind: 'resource',
  at: new Date().toISOString(),
  address: `terraform_data.${name}`,
  provider: 'terraform',
  type: 'terraform_data',
  name,
  moduleName: '',
  status,
  action: 'create',
});

test('log bytes sent twice, overlapping or with a gap are stored once, and the answer says where to resume', async () => {
  const { job, id } = await running();
  const send = async (offset: number, text: string) =>
    (await agent.report(job, { logs: [chunk('tf:plan', offset, text)] })).logs['tf:plan'];
  assert.equal(await send(0, 'hello'), 5);
  assert.equal(await send(0, 'hello'), 5);
  assert.equal(await send(3, 'lo world'), 11);
  assert.equal(await send(20, 'too far'), 11);
  assert.equal(await send(2, 'llo'), 11);
  assert.equal(await send(11, ''), 11);
  assert.equal((await storedLog(id, 'tf:plan')).toString(), 'hello world');
  await agent.finish(job, plannedOutcome());
});

test('the log is what was written, however reports are cut, repeated and reordered', async () => {
  const bytes = Buffer.from(Array.from({ length: 60 }, (_, index) => `line ${index} ü\n`).join(''));
  const cut = fc.record({ from: fc.nat(bytes.length), length: fc.nat(200) });
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async (cuts) => {
      const { job, id } = await running();
      let next = 0;
      for (const { from, length } of cuts) {
        next =
          (await agent.report(job, { logs: [chunk('tf:init', from, bytes.subarray(from, from + length))] }))
            .logs['tf:init'] ?? -1;
        assert.ok((await storedLog(id, 'tf:init')).equals(bytes.subarray(0, next)));
      }
      await agent.report(job, { logs: [chunk('tf:init', next, bytes.subarray(next))] });
      assert.ok((await storedLog(id, 'tf:init')).equals(bytes));
      await agent.finish(job, plannedOutcome());
      await ok('cancelDeployment', { id });
    }),
    { numRuns: 12 },
  );
});

test('simultaneous reports make one log', async () => {
  const { job, id } = await running();
  const text = 'x'.repeat(1000);
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      agent.report(job, { logs: [chunk('tf:plan', 0, text.slice(0, 100 * (index + 1)))] }),
    ),
  );
  const stored = await storedLog(id, 'tf:plan');
  assert.ok(stored.length >= 100 && text.startsWith(stored.toString()));
  await agent.finish(job, plannedOutcome());
});

test('the log of an apply or a new attempt continues where the step ended', async () => {
  const { job, id } = await running();
  await agent.report(job, { logs: [chunk('git:clone', 0, 'first\n')] });
  app.advance(answerSeconds);
  for (let list = 0; list < 2; list++) await agent.heartbeat([]);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
  assert.equal(
    (await agent.report(again, { logs: [chunk('git:clone', 0, 'second\n')] })).logs['git:clone'],
    7,
  );
  assert.equal((await storedLog(id, 'git:clone')).toString(), 'first\nsecond\n');
  await agent.finish(again, plannedOutcome());
});

test('repeated events change nothing, and events after a gap wait', async () => {
  covers('Deployment', 'gitMetadata');
  const { job, id } = await running();
  const git: RunEvent = {
    kind: 'git',
    at: new Date().toISOString(),
    commit: 'd'.repeat(40),
    branch: 'main',
    timestamp: '2026-01-01T02:00:00+02:00',
  };
  const events = [
    step('git:clone', 'IN_PROGRESS'),
    git,
    step('git:clone', 'SUCCESS'),
    step('tf:plan', 'IN_PROGRESS'),
  ];
  assert.equal((await agent.report(job, { events: events.slice(0, 2) })).events, 2);
  assert.equal((await agent.report(job, { eventsFrom: 3, events: events.slice(3) })).events, 2);
  assert.equal((await agent.report(job, { eventsFrom: 1, events: events.slice(1) })).events, 4);
  assert.equal((await agent.report(job, { events })).events, 4);
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  assert.deepEqual(
    fieldsOf(steps, 'name', 'status').filter(([, status]) => status !== 'NOT_STARTED'),
    [
      ['git:clone', 'SUCCESS'],
      ['tf:plan', 'IN_PROGRESS'],
    ],
  );
  assert.deepEqual(
    steps.map(({ order }) => order),
    steps.map((_, index) => index),
  );
  assert.deepEqual((await deploymentOf(id)).gitMetadata, {
    commit: 'd'.repeat(40),
    branch: 'main',
    timestamp: '2026-01-01T00:00:00.000Z',
  });
  const rows = await sql("select 1 from deployment_event where deployment_id = $1 and name = 'step'", id);
  assert.equal(rows.length, 3);
  await agent.finish(job, plannedOutcome());
});

test('resources appear while they are being created', async () => {
  const { job, id } = await running();
  await agent.report(job, { events: [resource('a', 'started'), resource('a')] });
  assert.deepEqual(fieldOf(await ok('listDeploymentResources', { id }), 'name'), ['a']);
  await agent.report(job, { eventsFrom: 2, events: [resource('b'), resource('a')] });
  const { resources, resourceCount } = await deploymentOf(id);
  assert.deepEqual([resources?.map(({ name }) => name), resourceCount], [['a', 'b'], 2]);
  await agent.finish(job, plannedOutcome());
});

test('a run shows at most 10,000 resources while it is running', async () => {
  const { job, id } = await running();
  for (let from = 0; from < 12_000; from += 3000) {
    const events = Array.from({ length: 3000 }, (_, index) => resource(`r${from + index}`));
    assert.equal((await agent.report(job, { eventsFrom: from, events })).events, from + 3000);
  }
  const { resources, resourceCount } = await deploymentOf(id);
  assert.deepEqual([resources?.length, resourceCount], [10_000, 10_000]);
  await agent.finish(job, plannedOutcome());
});

test('a NUL character in the output of a tool does not stop the run', async () => {
  const { job, id } = await running();
  const { events } = await agent.report(job, {
    events: [
      { kind: 'warning', at: new Date().toISOString(), step: 'tf:plan', text: 'a\0b' },
      resource('c\0'),
    ],
  });
  assert.equal(events, 2);
  await agent.finish(job, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    error: { message: 'bad \0 value' },
    plan: {
      resourceChanges: [],
      outputChanges: [{ name: 'x', action: 'create', attributes: [{ name: 'x', after: { '\0': '\0' } }] }],
    },
  });
  const { status, error } = await deploymentOf(id);
  assert.equal(status, 'FAILURE');
  assert.match(error?.message ?? '', /^bad . value$/);
});

test('a message cut in the middle of a character does not stop the run', async () => {
  const environment = await createEnvironment();
  const job = await agent.claim();
  const half = '\u{1F680}'.slice(0, 1);
  await agent.report(job, {
    events: [{ kind: 'warning', at: new Date().toISOString(), step: 'tf:plan', text: `up ${half}` }],
  });
  await agent.finish(job, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    error: { message: `no ${half}` },
  });
  assert.equal((await deploymentOf(environment.latestDeploymentLogId ?? '')).error?.message, 'no \uFFFD');
});

test('reports of a run that was given up change nothing', async () => {
  const { job, id } = await running();
  await agent.report(job, {
    events: [{ kind: 'step', at: new Date().toISOString(), step: 'git:clone', status: 'IN_PROGRESS' }],
  });
  app.advance(60);
  await ok('releaseDeployment', { id, body: { reason: 'it hangs' } });
  const events = [{ kind: 'step', at: new Date().toISOString(), step: 'tf:plan', status: 'IN_PROGRESS' }];
  const late = await agent.send('report', job, {
    fence: job.fence,
    eventsFrom: 1,
    events,
    logs: [{ step: 'tf:plan', offset: 0, base64: 'bGF0ZQ==' }],
  });
  assert.equal(late.statusCode, 409, late.body);
  assert.deepEqual([late.json().code, (await storedLog(id, 'tf:plan')).length], ['fence_outdated', 0]);
  assert.equal(
    (await ok('listSteps', { params: { deploymentLogId: id } })).find(({ name }) => name === 'tf:plan')
      ?.status,
    'NOT_STARTED',
  );
});

test('a step that is skipped after it has begun has an end, one that never began has no times', async () => {
  const { job, id } = await running();
  const events = [step('tf:init', 'SKIPPED'), step('tf:plan', 'IN_PROGRESS'), step('tf:plan', 'SKIPPED')];
  await agent.report(job, { events });
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  const timesOf = (name: string) => {
    const { startedAt, completedAt } = steps.find((each) => each.name === name) ?? {};
    return [startedAt, completedAt].map((time) => typeof time);
  };
  assert.deepEqual(timesOf('tf:plan'), ['string', 'string']);
  assert.deepEqual(timesOf('tf:init'), ['undefined', 'undefined']);
});

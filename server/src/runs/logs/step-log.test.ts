import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import type { RunEvent } from '#protocol/messages/report.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import type { Reply } from '../../../testing/client.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const { agent, send, ok, refused, createEnvironment, forgetWork } = await startAgentTests();
beforeEach(() => forgetWork());

const step = (status: 'IN_PROGRESS' | 'SUCCESS'): RunEvent => ({
  kind: 'step',
  at: new Date().toISOString(),
  step: 'tf:plan',
  status,
});

async function planning(): Promise<{ job: Job; id: string }> {
  const environment = await createEnvironment();
  const job = await agent.claim();
  await agent.report(job, { events: [step('IN_PROGRESS')] });
  return { job, id: environment.latestDeploymentLogId ?? '' };
}

const report = (job: Job, offset: number, text: string | Buffer) =>
  agent.report(job, {
    eventsFrom: 1,
    logs: [{ step: 'tf:plan', offset, base64: Buffer.from(text).toString('base64') }],
  });

const page = (id: string, startTime?: string): Promise<Reply<'getStepLog'>> =>
  ok('getStepLog', {
    params: { deploymentLogId: id, name: 'tf:plan' },
    ...(startTime === undefined ? {} : { query: { startTime } }),
  });

async function allPages(id: string) {
  const lines: string[] = [];
  let pages = 0;
  for (let start: string | undefined = ''; ; pages++) {
    const { events, nextStartTime, hasMoreLogs }: Reply<'getStepLog'> = await page(id, start);
    lines.push(...events.map(({ message }) => message));
    start = nextStartTime;
    if (!hasMoreLogs) return { lines, pages: pages + 1, next: start };
  }
}

test('a growing log is read line by line, each once; an unfinished line waits for its end', async () => {
  const { job, id } = await planning();
  await report(job, 0, 'one\r\n\u001b[1mtwo\u001b[0m\nthr');
  const first = await page(id, '');
  assert.deepEqual(fieldsOf(first.events, 'message', 'level'), [
    ['one', 'info'],
    ['\u001b[1mtwo\u001b[0m', 'info'],
  ]);
  assert.equal(first.hasMoreLogs, false);
  assert.ok(first.events.every(({ timestamp }) => !Number.isNaN(Date.parse(timestamp))));
  assert.deepEqual((await page(id, first.nextStartTime)).events, []);
  assert.equal((await page(id, first.nextStartTime)).nextStartTime, first.nextStartTime);
  await report(job, 20, 'ee\nfour');
  assert.deepEqual(fieldOf((await page(id, first.nextStartTime)).events, 'message'), ['three']);
  await agent.report(job, { eventsFrom: 1, events: [step('SUCCESS')] });
  const rest = await page(id, first.nextStartTime);
  assert.deepEqual([rest.events.map(({ message }) => message), rest.hasMoreLogs], [['three', 'four'], false]);
  assert.equal(new Set([...first.events, ...rest.events].map(({ eventId }) => eventId)).size, 4);
  await agent.finish(job, plannedOutcome());
});

test('a log of several megabytes is read completely, in pages', async () => {
  const { job, id } = await planning();
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index} ${'ü€'.repeat(20)}`);
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  for (let offset = 0; offset < bytes.length; offset += 300_000)
    await report(job, offset, bytes.subarray(offset, offset + 300_000));
  const running = await allPages(id);
  assert.ok(running.pages > 2);
  assert.deepEqual(running.lines, lines);
  await agent.report(job, { eventsFrom: 1, events: [step('SUCCESS')] });
  assert.deepEqual((await allPages(id)).lines, lines);
  await agent.finish(job, plannedOutcome());
});

test('an endless line is read in parts that do not cut characters', async () => {
  const { job, id } = await planning();
  const text = `x${'€'.repeat(600_000)}`;
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length; offset += 250_000)
    await report(job, offset, bytes.subarray(offset, offset + 250_000));
  assert.equal((await allPages(id)).lines.join(''), text);
  await agent.report(job, { eventsFrom: 1, events: [step('SUCCESS')] });
  assert.equal((await allPages(id)).lines.join(''), text);
  await agent.finish(job, plannedOutcome());
});

test('bytes that are not text do not stop the log', async () => {
  const { job, id } = await planning();
  await report(job, 0, Buffer.from([0xff, 0x00, 0x0a, 0xc3, 0x0a]));
  assert.deepEqual(
    (await page(id)).events.map(({ message }) => message.length),
    [2, 1],
  );
  await agent.finish(job, plannedOutcome());
});

test('the log of a step that has not started is empty; unknown steps and places are refused', async () => {
  const { job, id } = await planning();
  await report(job, 0, 'one\n');
  assert.deepEqual(
    await ok('getStepLog', { params: { deploymentLogId: id, name: 'tf:apply' }, query: { startTime: '' } }),
    { events: [], nextStartTime: '0', hasMoreLogs: false },
  );
  await refused('getStepLog', 404, /tf:nothing/, { params: { deploymentLogId: id, name: 'tf:nothing' } });
  for (const startTime of ['-1', '5', '1.5', 'x', '1e2', '99999999999999999999']) {
    const refusal = await refused('getStepLog', 400, {
      params: { deploymentLogId: id, name: 'tf:plan' },
      query: { startTime },
    });
    assert.match(refusal.message, /\/query\/startTime/, startTime);
  }
  assert.equal((await send({ url: `/api/deployments/${id}/steps/tf:plan/log?startTime=` })).statusCode, 200);
  await agent.finish(job, plannedOutcome());
});

test('all steps exist from the start, in their order', async () => {
  const { job, id } = await planning();
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  assert.deepEqual(fieldOf(steps, 'name'), [
    'git:clone',
    'variables:setup',
    'tf:init',
    'tf:workspace',
    'tf:plan',
    'approval:wait',
    'apply:prepare',
    'tf:apply',
    'tf:output',
    'state:store',
  ]);
  assert.deepEqual(
    new Set(steps.filter(({ name }) => name !== 'tf:plan').map(({ status }) => status)),
    new Set(['NOT_STARTED']),
  );
  assert.ok(
    steps.every(
      ({ startedAt, completedAt, name }) =>
        (name === 'tf:plan') === (startedAt !== undefined) && completedAt === undefined,
    ),
  );
  await agent.finish(job, plannedOutcome());
});

/** Agents that do not keep to the protocol: each lie is refused and logged, and harms no run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LightMyRequestResponse as Response } from 'fastify';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import { addAgent, appliedOutcome, stateFile, TestAgent } from '../../../testing/agent.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { auditRefusedCalls } from '../../service/audit-log/audit-refused-calls.ts';
import { sweepSilence } from './sweep-silence.ts';

const { app, agent, ok, createActive, createEnvironment, deploy, deploymentOf } = await startAgentTests();

/** An agent of the same organization, with a key of its own. */
async function otherAgent(): Promise<TestAgent> {
  const key = 'LIAR';
  await addAgent(app, key, app.organizationId);
  const { secret } = await ok('createAgentSecret', { params: { agentKey: key } });
  const other = new TestAgent(app, secret, key);
  await other.register();
  return other;
}
const liar = await otherAgent();

/** An apply of an environment that has a state, with its start mark. */
async function applying() {
  const environment = await createActive();
  const { id } = await deploy(environment.id, { userRequiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  await agent.mark(job, mark);
  return { environment, job, id };
}
const mark = 'm'.repeat(32);

async function refusedCalls() {
  await auditRefusedCalls(app.context);
  return app.context.db
    .selectFrom('audit_event')
    .select(['actor_id', 'entity', 'entity_id'])
    .where('action', '=', 'call.refused')
    .orderBy('number')
    .execute();
}

/** Brings the state and the outcome of such an apply. */
async function end(job: Job): Promise<void> {
  const { serial = 0, lineage, stateVersionId = '' } = job.state.current ?? {};
  await agent.putState(job, stateFile(serial + 1, ['a', 'b'], lineage), stateVersionId);
  assert.equal(await agent.finish(job, appliedOutcome({ resourceCount: 2 })), null);
}

const log = (offset: number, text: string) => ({
  step: 'tf:apply',
  offset,
  base64: Buffer.from(text).toString('base64'),
});
const report = (job: HeldAttempt, more: object) => ({
  fence: job.fence,
  eventsFrom: 0,
  events: [],
  logs: [],
  ...more,
});
const step = (at: string) => ({ kind: 'step', at, step: 'tf:apply', status: 'IN_PROGRESS' });

interface Lie {
  readonly what: string;
  tell(job: Job): Promise<Response>;
  readonly status: number;
  readonly says: RegExp;
}

const duringTheRun: readonly Lie[] = [
  {
    what: 'an offset that leaves a gap',
    tell: (job) => agent.send('report', job, report(job, { logs: [log(1_000_000, 'later')] })),
    status: 200,
    says: /"logs":\{"tf:apply":6\}/,
  },
  {
    what: 'an event position that leaves a gap',
    tell: (job) =>
      agent.send('report', job, report(job, { eventsFrom: 1_000, events: [step('2026-01-01T00:00:00Z')] })),
    status: 200,
    says: /"events":0/,
  },
  {
    what: 'an offset that is not one',
    tell: (job) => agent.send('report', job, report(job, { logs: [log(-5, 'before')] })),
    status: 400,
    says: /\/logs\/0\/offset/,
  },
  {
    what: 'a time that is not one',
    tell: (job) => agent.send('report', job, report(job, { events: [step('never')] })),
    status: 200,
    says: /"events":1/,
  },
  {
    what: 'a report that is too large',
    tell: (job) => agent.send('report', job, report(job, { logs: [log(6, 'x'.repeat(1024 * 1024))] })),
    status: 413,
    says: /larger than 1048576 bytes/,
  },
  {
    what: 'a second start mark',
    tell: (job) => agent.send('mark', job, { fence: job.fence, mark: 'n'.repeat(32) }),
    status: 409,
    says: /mark_taken.*already marked as started/,
  },
  {
    what: "a fence that is not the attempt's",
    tell: (job) => agent.send('mark', job, { fence: job.fence + 1, mark }),
    status: 409,
    says: /fence_outdated/,
  },
  ...(['report', 'mark', 'finish'] as const).map(
    (name): Lie => ({
      what: `a ${name} for the run of another agent`,
      tell: (job) =>
        liar.send(name, job, {
          ...report(job, { logs: [log(6, 'not from here')] }),
          mark: 'l'.repeat(32),
          outcome: appliedOutcome(),
        }),
      status: 409,
      says: /belongs to another process of an agent/,
    }),
  ),
];

const isLogged = (says: RegExp) => app.logged.some((line) => says.test(line));

test('lies about a run are refused and logged, and the run ends as if they had not been sent', async () => {
  const { job, id } = await applying();
  await agent.report(job, { logs: [log(0, 'begin\n')] });
  for (const { what, tell, status, says } of duringTheRun) {
    app.logged.length = 0;
    const answer = await tell(job);
    assert.equal(answer.statusCode, status, `${what}: ${answer.body}`);
    assert.match(answer.body, says, what);
    if (status >= 400)
      assert.ok(isLogged(/call of an agent refused|does not have the right/), `${what}: logged`);
  }
  assert.equal(await agent.claimAny(), null, 'a job is handed out once');
  await agent.report(job, { logs: [log(6, 'end\n')], eventsFrom: 1 });
  await end(job);

  const done = await deploymentOf(id);
  assert.deepEqual([done.status, done.resourceCount], ['SUCCESS', 2], done.error?.message);
  const { events } = await ok('getStepLog', { params: { deploymentLogId: id, name: 'tf:apply' } });
  assert.deepEqual(fieldOf(events, 'message'), ['begin', 'end']);
  assert.deepEqual(
    await refusedCalls(),
    Array.from({ length: 3 }, () => ({ actor_id: 'LIAR', entity: 'job', entity_id: job.jobId })),
  );
});

test('what an agent sends in place of the id of an attempt is not kept', async () => {
  const before = await refusedCalls();
  for (const jobId of ['\0', 'x'.repeat(900), app.context.newId()]) {
    const response = await liar.send(
      'report',
      { jobId, attempt: 1 },
      report({ fence: 1 } as HeldAttempt, {}),
    );
    assert.ok(response.statusCode >= 400 && response.statusCode < 500, `${jobId} ${response.body}`);
  }
  const rows = (await refusedCalls()).slice(before.length);
  assert.ok(rows.length > 0);
  for (const { entity_id: id } of rows) assert.match(id, /^[\w/:{}-]{1,100}$/);
});

test('a state of another lineage is kept as rescued, does not become the current one, and the run says so', async () => {
  const { environment, job, id } = await applying();
  const follows = job.state.current?.stateVersionId ?? '';
  const { standing } = await agent.putState(job, stateFile(99, ['b'], 'another lineage'), follows);
  assert.equal(standing, 'rescued');
  await agent.finish(job, appliedOutcome({ resourceCount: 2 }));
  const done = await deploymentOf(id);
  assert.equal(done.status, 'INTERNAL_FAILURE');
  assert.match(done.error?.message ?? '', /kept as a rescued version/);
  const versions = await ok('listStateVersions', { id: environment.id });
  const current = versions.find((version) => version.standing === 'current');
  assert.equal(current?.id, follows);
});

test('reports about a run after its end are refused and logged, and change nothing', async () => {
  const { job, id } = await applying();
  await agent.report(job, { logs: [log(0, 'all\n')] });
  await end(job);
  const before = await deploymentOf(id);
  assert.equal(before.status, 'SUCCESS');
  const calls: Readonly<Record<string, () => Promise<Response>>> = {
    report: () => agent.send('report', job, report(job, { logs: [log(4, 'more\n')] })),
    mark: () => agent.send('mark', job, { fence: job.fence, mark: 'n'.repeat(32) }),
    finish: () =>
      agent.send('finish', job, { fence: job.fence, outcome: appliedOutcome({ resourceCount: 7 }) }),
    getState: () => agent.send('getState', { ...job, query: { fence: String(job.fence) } }),
    getBlob: () => agent.send('getBlob', { ...job, blob: 'plan', query: { fence: String(job.fence) } }),
  };
  for (const [name, call] of Object.entries(calls)) {
    app.logged.length = 0;
    const { statusCode, body } = await call();
    assert.equal(statusCode, 409, `${name}: ${body}`);
    assert.match(body, /has ended/, name);
    assert.ok(isLogged(/call of an agent refused/), `${name}: logged`);
  }
  await agent.putBlob(job, 'tree', 'another tree');
  assert.deepEqual(await app.context.db.selectFrom('attempt_blob').selectAll().execute(), []);
  const { unwanted, abort } = await agent.heartbeat([job]);
  assert.deepEqual([unwanted.map(({ fence }) => fence), abort], [[job.fence], []]);
  const { events } = await ok('getStepLog', { params: { deploymentLogId: id, name: 'tf:apply' } });
  assert.deepEqual(fieldOf(events, 'message'), ['all']);
  assert.deepEqual(await deploymentOf(id), before);
});

test('an agent that claims and is then silent holds up no one', async () => {
  await createEnvironment();
  const job = await liar.claim();
  await sweepSilence(app.context);
  for (const seconds of [14, 14]) {
    app.advance(seconds);
    await agent.heartbeat([]);
    await sweepSilence(app.context);
  }
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, job.attempt + 1]);
  const late = await liar.send('mark', job, { fence: job.fence, mark });
  assert.deepEqual([late.statusCode, late.json<{ code: string }>().code], [409, 'fence_outdated']);
});

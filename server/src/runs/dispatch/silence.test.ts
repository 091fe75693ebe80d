import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { appliedOutcome, plannedOutcome, testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { createEnvironment, deploymentOf, forgetWork } from '../../../testing/environment.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { giveUpAfterSeconds, judgeSilence } from '../agents/contact.ts';
import { decideAfterLoss } from '../deployments/decisions/decide-after-loss.ts';
import { sweepSilence } from './sweep-silence.ts';

const app = await testApp();
const agent = await testAgent(app);
const giveUpSeconds = giveUpAfterSeconds(app.context.settings);

beforeEach(async () => {
  await app.database.pool.query('delete from server_stamp');
  await agent.register();
  for (let job = await agent.claimAny(); job; job = await agent.claimAny())
    await agent.finish(job, plannedOutcome());
});

async function running(more: object = {}) {
  const environment = await createEnvironment(app, more);
  return { job: await agent.claim(), id: environment.latestDeploymentLogId ?? '' };
}

/** Lets time pass with a server that is up all the while. */
async function pass(seconds: number): Promise<void> {
  // With enough room to a gap in the stamps, for a busy machine.
  for (let gone = 0; gone < seconds; gone += 10) {
    app.advance(Math.min(10, seconds - gone));
    await sweepSilence(app.context);
  }
}

test('the verdict on silence depends on contact, on what servers could store, and on the mark', () => {
  const now = new Date();
  const seconds = fc.integer({ min: 0, max: 2000 });
  fc.assert(
    fc.property(seconds, seconds, fc.boolean(), (sinceContact, sinceGap, hasMark) => {
      const ago = (amount: number) => new Date(now.getTime() - amount * 1000);
      const verdict = judgeSilence({
        now,
        contactAt: ago(sinceContact),
        stampedSince: ago(sinceGap),
        hasMark,
        unreachableSeconds: 20,
        giveUpSeconds: 720,
      });
      const silent = Math.min(sinceContact, sinceGap);
      assert.equal(verdict, hasMark ? (silent > 720 ? 'give-up' : 'wait') : silent > 20 ? 'again' : 'wait');
    }),
  );
});

test('an agent is silent after three heartbeats without an answer, however far apart these are', async () => {
  const app = await testApp({
    ENVARIUM_HEARTBEAT_SECONDS: '60',
    ENVARIUM_OFFLINE_GRACE_SECONDS: '1',
    ENVARIUM_ABORT_SECONDS: '1',
  });
  const agent = await testAgent(app);
  const id = (await createEnvironment(app)).latestDeploymentLogId ?? '';
  const job = await agent.claim();
  const pass = async (seconds: number) => {
    for (let gone = 0; gone < seconds; gone += 10) {
      app.advance(10);
      await sweepSilence(app.context);
    }
  };
  await pass(170);
  assert.equal((await deploymentOf(app, id)).waitingFor, undefined);
  assert.equal((await ok(app, 'listAgents', { query: {} }))[0]?.status, 'ACTIVE');
  await agent.heartbeat([job]);
  await pass(170);
  assert.equal(await agent.claimAny(), null);
  await pass(40);
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
});

test('runs that changed nothing are tried three times in total', () => {
  assert.equal(decideAfterLoss({ status: 'IN_PROGRESS', mark: null, attempts: 1 }), 'again');
  assert.equal(decideAfterLoss({ status: 'IN_PROGRESS', mark: null, attempts: 3 }), 'failed');
  assert.equal(decideAfterLoss({ status: 'IN_PROGRESS', mark: 'm', attempts: 1 }), 'failed');
  for (const mark of [null, 'm'])
    assert.equal(decideAfterLoss({ status: 'ABORTING', mark, attempts: 1 }), 'aborted');
});

test('an attempt without a mark moves to another agent when its own is silent', async () => {
  const { job, id } = await running();
  await sweepSilence(app.context);
  await pass(14);
  assert.equal((await deploymentOf(app, id)).waitingFor, undefined);
  await pass(14);
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
  assert.deepEqual(fieldOf((await agent.heartbeat([job])).unwanted, 'fence'), [job.fence]);
  await other.finish(again, plannedOutcome());
});

test('an attempt with a mark stays until the give-up, which releases the environment and gives the reason', async () => {
  const { job, id } = await running({ requiresApproval: false });
  const next = (await agent.finish(job, plannedOutcome())) ?? assert.fail('no apply');
  await agent.mark(next);
  await sweepSilence(app.context);
  await pass(giveUpSeconds - 30);
  const waiting = await deploymentOf(app, id);
  assert.deepEqual([waiting.status, waiting.waitingFor?.kind], ['IN_PROGRESS', 'agent']);
  await pass(60);
  const done = await deploymentOf(app, id);
  assert.equal(done.status, 'INTERNAL_FAILURE');
  assert.match(
    done.error?.message ?? '',
    /lost after it had started to make changes: its agent on host has not been heard from since/,
  );
  const late = await agent.send('finish', next, { fence: next.fence, outcome: plannedOutcome() });
  assert.equal(late.statusCode, 409);
});

test('an abort of a silent run with a mark waits for the give-up, and its late outcome is refused', async () => {
  const { job, id } = await running({ requiresApproval: false });
  const next = (await agent.finish(job, plannedOutcome())) ?? assert.fail('no apply');
  await agent.mark(next);
  await sweepSilence(app.context);
  await pass(60);
  await ok(app, 'abortDeployment', { id });
  await pass(giveUpSeconds - 90);
  assert.equal((await deploymentOf(app, id)).status, 'ABORTING');
  await pass(60);
  assert.equal((await deploymentOf(app, id)).status, 'ABORTED');
  const late = await agent.send('finish', next, { fence: next.fence, outcome: appliedOutcome() });
  assert.equal(late.statusCode, 409);
  assert.equal((await deploymentOf(app, id)).status, 'ABORTED');
});

test('an outcome that is stored before the give-up counts, even if an abort was requested', async () => {
  const { job, id } = await running({ requiresApproval: false });
  const next =
    (await agent.finish(job, plannedOutcome({ hasResourceChanges: false }))) ?? assert.fail('no apply');
  await agent.mark(next);
  await ok(app, 'abortDeployment', { id });
  await agent.finish(next, appliedOutcome());
  await pass(giveUpSeconds + 60);
  assert.equal((await deploymentOf(app, id)).status, 'SUCCESS');
});

test('time in which servers cannot store heartbeats does not count as silence', async () => {
  const { id } = await running();
  await sweepSilence(app.context);
  app.advance(3600);
  await sweepSilence(app.context);
  await pass(14);
  const { rows } = await app.database.pool.query(
    'select max(number) as attempts from attempt join job on job.id = job_id where deployment_id = $1',
    [id],
  );
  assert.deepEqual(rows, [{ attempts: 1 }]);
  assert.equal(
    (await app.database.pool.query("select 1 from job where status = 'claimed' and deployment_id = $1", [id]))
      .rowCount,
    1,
  );
});

test('a clock that is set back an hour neither hides silence nor counts as silence', async () => {
  await forgetWork(app);
  const { job } = await running();
  await sweepSilence(app.context);
  await pass(14);
  await agent.heartbeat([job]);
  app.advance(-3600);
  await sweepSilence(app.context);
  await pass(14);
  assert.equal(await agent.claimAny(), null);
  await pass(14);
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
  await other.finish(again, plannedOutcome());
  app.advance(3600);
});

test('silence counts from the first of the stamps that are at most 15 seconds apart', async () => {
  const { job } = await running();
  const sweepAfter = async (seconds: number) => {
    app.advance(seconds);
    await sweepSilence(app.context);
  };
  await sweepSilence(app.context);
  for (let index = 0; index < 5; index++) await sweepAfter(16);
  assert.equal(await agent.claimAny(), null, 'each gap was too long');
  await sweepAfter(11);
  assert.equal(await agent.claimAny(), null, 'since the last gap, it has been silent for 11 seconds');
  await sweepAfter(11);
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
  await other.finish(again, plannedOutcome());
});

test('the runs of an agent that stops follow the same rules', async () => {
  const { job, id } = await running();
  await sweepSilence(app.context);
  await pass(14);
  await agent.heartbeat([job]);
  await pass(14);
  await agent.heartbeat([job]);
  await agent.goodbye();
  await pass(14);
  await agent.register([job]);
  await pass(14);
  await agent.finish(job, plannedOutcome());
  assert.equal((await deploymentOf(app, id)).status, 'WAITING_FOR_USER');
  const left = await running();
  await agent.goodbye();
  await pass(28);
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [left.job.jobId, 2]);
  await other.finish(again, plannedOutcome());
});

test('a run is given up even when that takes more than a day', async () => {
  const patient = await testApp({ ENVARIUM_OFFLINE_GRACE_SECONDS: String(3 * 86_400) });
  const agent = await testAgent(patient);
  const id = (await createEnvironment(patient, { requiresApproval: false })).latestDeploymentLogId ?? '';
  const apply = (await agent.finish(await agent.claim(), plannedOutcome())) ?? assert.fail('no apply');
  await agent.mark(apply);
  const seconds = giveUpAfterSeconds(patient.context.settings);
  const stampAll = () =>
    patient.database.pool.query(
      `insert into server_stamp select $1::timestamptz - make_interval(secs => n * 10)
        from generate_series(1, ${Math.ceil(seconds / 10)}) as n on conflict do nothing`,
      [patient.context.now()],
    );
  patient.advance(seconds - 60);
  await stampAll();
  await sweepSilence(patient.context);
  assert.equal((await deploymentOf(patient, id)).status, 'IN_PROGRESS');
  patient.advance(61);
  await stampAll();
  await sweepSilence(patient.context);
  assert.equal((await deploymentOf(patient, id)).status, 'INTERNAL_FAILURE');
});

test('several servers that judge a silent run at the same time give it up once', async () => {
  const { job, id } = await running({ requiresApproval: false });
  await sweepSilence(app.context);
  await pass(15);
  app.advance(10);
  await Promise.all(Array.from({ length: 4 }, () => sweepSilence(app.context)));
  const other = agent.sibling();
  await other.register();
  const again = await other.claim();
  assert.deepEqual([again.jobId, again.attempt], [job.jobId, 2]);
  assert.equal(await other.claimAny(), null);
  const next = (await other.finish(again, plannedOutcome())) ?? assert.fail('no apply');
  await other.mark(next);
  await pass(giveUpSeconds - 30);
  for (const seconds of [10, 10, 10, 10, 10]) {
    app.advance(seconds);
    await Promise.all(Array.from({ length: 4 }, () => sweepSilence(app.context)));
  }
  const { rows } = await app.database.pool.query(
    "select name, data->>'status' as status from deployment_event where deployment_id = $1 and name in ('end', 'status') order by number",
    [id],
  );
  assert.deepEqual(
    rows.filter(({ name, status }) => name === 'end' || status === 'INTERNAL_FAILURE'),
    [
      { name: 'status', status: 'INTERNAL_FAILURE' },
      { name: 'end', status: 'INTERNAL_FAILURE' },
    ],
  );
});

test('all steps of a lost plan begin again, with the times of the attempt that ends it', async () => {
  const { job, id } = await running();
  const at = app.context.now().toISOString();
  const step = (name: string, status: 'IN_PROGRESS' | 'SUCCESS') =>
    ({ kind: 'step', at, step: name, status }) as const;
  await agent.report(job, {
    events: [step('git:clone', 'IN_PROGRESS'), step('git:clone', 'SUCCESS'), step('tf:init', 'IN_PROGRESS')],
  });
  await pass(40);
  const begun = (await ok(app, 'listSteps', { params: { deploymentLogId: id } })).filter(
    ({ status, startedAt }) => status !== 'NOT_STARTED' || startedAt !== undefined,
  );
  assert.deepEqual(begun, []);
});

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { answerSeconds } from '#protocol/messages/agent.ts';
import { appliedOutcome, plannedOutcome, stateFile } from '../../../testing/agent.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { startAgentTests } from '../../../testing/start.ts';

const tests = await startAgentTests();
const { app, agent, ok, sql, createEnvironment, deploy, deploymentOf, environmentOf, forgetWork } = tests;

beforeEach(() => forgetWork());

async function running(more: object = {}) {
  const environment = await createEnvironment(more);
  return { environment, job: await agent.claim(), id: environment.latestDeploymentLogId ?? '' };
}

const codeOf = (response: { json: () => unknown }) => (response.json() as { code: string }).code;

test('a repeated outcome gets the same answer, and a different one is refused', async () => {
  covers('Deployment', 'providerVersions', 'moduleVersions', 'stateFileHash');
  const { job, id } = await running({ requiresApproval: false });
  const outcome = plannedOutcome({ providerVersions: { null: '3.2.4' }, moduleVersions: { net: '1.0.0' } });
  const next = await agent.finish(job, outcome);
  assert.ok(next);
  assert.deepEqual(
    [next.phase, next.approved?.continues?.jobId, next.approved?.parts],
    ['apply', job.jobId, outcome.approvedParts],
  );
  assert.deepEqual(await agent.finish(job, outcome), next);
  const other = await agent.send('finish', job, {
    fence: job.fence,
    outcome: { ...outcome, hasChanges: false },
  });
  assert.deepEqual([other.statusCode, codeOf(other)], [409, 'fence_outdated']);
  await agent.mark(next);
  await agent.putState(next, stateFile(1, ['a'], next.environmentId), '');
  const applied = appliedOutcome({ stateFileHash: 'h' });
  assert.equal(await agent.finish(next, applied), null);
  assert.equal(await agent.finish(next, applied), null);
  const done = await deploymentOf(id);
  assert.deepEqual(
    [done.status, done.providerVersions, done.moduleVersions, done.stateFileHash],
    ['SUCCESS', { null: '3.2.4' }, { net: '1.0.0' }, { value: 'h' }],
  );
});

test('simultaneous copies of an outcome are accepted once', async () => {
  const { job, id } = await running({ requiresApproval: false });
  const outcome = plannedOutcome();
  const nexts = await Promise.all(Array.from({ length: 5 }, () => agent.finish(job, outcome)));
  assert.equal(new Set(nexts.map((next) => next?.fence)).size, 1);
  const rows = await sql(
    'select count(*)::int as count from attempt join job on job.id = job_id where deployment_id = $1',
    id,
  );
  assert.deepEqual(rows, [{ count: 2 }]);
});

test('a start mark is accepted once: a repetition is fine, a different one is refused', async () => {
  const { job } = await running({ requiresApproval: false });
  const mark = await agent.mark(job);
  await agent.mark(job, mark);
  const other = await agent.send('mark', job, { fence: job.fence, mark: 'another mark of 16' });
  assert.deepEqual([other.statusCode, codeOf(other)], [409, 'mark_taken']);
  await agent.finish(job, plannedOutcome());
  assert.equal((await agent.send('mark', job, { fence: job.fence, mark })).statusCode, 200);
  const late = await running();
  await agent.finish(late.job, plannedOutcome());
  const ended = await agent.send('mark', late.job, { fence: late.job.fence, mark: 'a mark of 16 letters' });
  assert.deepEqual([ended.statusCode, codeOf(ended)], [409, 'fence_outdated']);
});

test('an attempt missing from two lists is replaced, and may then send only its state', async () => {
  const { job, id } = await running();
  app.advance(answerSeconds);
  await agent.heartbeat([]);
  await agent.heartbeat([job]);
  await agent.heartbeat([]);
  assert.equal(await agent.claimAny(), null);
  const { unwanted } = await agent.heartbeat([]);
  assert.deepEqual(unwanted, []);
  const again = await agent.claim();
  assert.deepEqual([again.jobId, again.attempt, again.fence > job.fence], [job.jobId, 2, true]);
  for (const [name, message] of [
    ['report', { fence: job.fence, eventsFrom: 0, events: [], logs: [] }],
    ['mark', { fence: job.fence, mark: 'x'.repeat(16) }],
    ['finish', { fence: job.fence, outcome: plannedOutcome() }],
  ] as const) {
    const response = await agent.send(name, job, message);
    assert.deepEqual([response.statusCode, codeOf(response)], [409, 'fence_outdated'], name);
  }
  assert.equal(
    (await agent.send('putBlob', { ...job, blob: 'plan', query: { fence: String(job.fence) } }, 'x'))
      .statusCode,
    409,
  );
  assert.deepEqual(fieldOf((await agent.heartbeat([job, again])).unwanted, 'fence'), [job.fence]);
  assert.equal((await agent.putState(job, stateFile(1, ['x'], job.environmentId), '')).standing, 'rescued');
  await agent.finish(again, plannedOutcome());
  assert.equal((await deploymentOf(id)).status, 'WAITING_FOR_USER');
});

test('a run that is lost again and again ends after three attempts', async () => {
  const { job, id } = await running();
  await agent.report(job, {
    events: [{ kind: 'step', at: new Date().toISOString(), step: 'git:clone', status: 'IN_PROGRESS' }],
  });
  let current = job;
  for (let attempt = 1; attempt < 3; attempt++) {
    assert.equal(
      await agent.finish(current, {
        result: 'internal',
        finishedAt: new Date().toISOString(),
        isLost: true,
        error: { message: 'the runner is gone' },
      }),
      null,
    );
    assert.deepEqual(
      new Set((await ok('listSteps', { params: { deploymentLogId: id } })).map(({ status }) => status)),
      new Set(['NOT_STARTED']),
    );
    current = await agent.claim();
    assert.equal(current.attempt, attempt + 1);
  }
  await agent.finish(current, {
    result: 'internal',
    finishedAt: new Date().toISOString(),
    isLost: true,
    error: { message: 'the runner is gone' },
  });
  const done = await deploymentOf(id);
  assert.equal(done.status, 'INTERNAL_FAILURE');
  assert.match(done.error?.message ?? '', /lost 3 times .* the runner is gone/);
  assert.equal(await agent.claimAny(), null);
});

test('a run lost after its mark is never started again, and reports what is known', async () => {
  covers('Deployment', 'unrecordedResources');
  const { environment, job, id } = await running({ requiresApproval: false });
  const queued = await deploy(environment.id, { userRequiresApproval: true });
  const next = (await agent.finish(job, plannedOutcome())) ?? assert.fail('no apply');
  await agent.mark(next);
  const { stateVersionId } = await agent.putState(next, stateFile(1, ['a'], next.environmentId), '');
  await agent.finish(next, {
    result: 'internal',
    finishedAt: new Date().toISOString(),
    isLost: true,
    failedCommand: 'tf:apply',
    unrecorded: [{ address: 'x.y', certainty: 'may exist' }],
  });
  const done = await deploymentOf(id);
  assert.deepEqual(
    [done.status, done.failedCommand, done.stateVersionId],
    ['INTERNAL_FAILURE', 'tf:apply', stateVersionId],
  );
  assert.deepEqual(done.unrecordedResources, [{ address: 'x.y', certainty: 'may exist' }]);
  assert.match(done.error?.message ?? '', /lost after it had started/);
  assert.equal((await deploymentOf(queued.id)).status, 'IN_PROGRESS');
  const plan = await agent.claim();
  assert.equal(plan.state.current?.stateVersionId, stateVersionId);
  await agent.finish(plan, plannedOutcome());
  await ok('cancelDeployment', { id: queued.id });
  assert.equal((await environmentOf(environment.id)).status, 'FAILED');
});

test('a lost run with a requested abort ends as aborted', async () => {
  const { job, id } = await running();
  await ok('abortDeployment', { id });
  await agent.finish(job, { result: 'internal', finishedAt: new Date().toISOString(), isLost: true });
  assert.equal((await deploymentOf(id)).status, 'ABORTED');
});

test('an abort at the end of the plan keeps the apply from starting', async () => {
  const { job, id } = await running({ requiresApproval: false });
  await ok('abortDeployment', { id });
  assert.equal(await agent.finish(job, plannedOutcome()), null);
  assert.equal((await deploymentOf(id)).status, 'ABORTED');
});

test('a step that is still running ends with its deployment', async () => {
  const { job, id } = await running();
  await agent.report(job, {
    events: [{ kind: 'step', at: new Date().toISOString(), step: 'tf:plan', status: 'IN_PROGRESS' }],
  });
  await agent.finish(job, {
    result: 'failed',
    finishedAt: new Date().toISOString(),
    failedCommand: 'tf:plan',
  });
  const steps = await ok('listSteps', { params: { deploymentLogId: id } });
  assert.deepEqual(
    fieldsOf(
      steps.filter(({ completedAt }) => completedAt),
      'name',
      'status',
    ),
    [['tf:plan', 'FAIL']],
  );
  assert.deepEqual((await deploymentOf(id)).error, { message: 'Unknown Error' });
});

test('a deployment whose outcome cannot be stored ends after some tries, and the queue continues', async () => {
  const { environment, job, id } = await running({ requiresApproval: false });
  const next = (await agent.finish(job, plannedOutcome())) ?? assert.fail('no apply');
  await agent.mark(next);
  const { stateVersionId } = await agent.putState(next, stateFile(1, ['a'], next.environmentId), '');
  const queued = await deploy(environment.id);
  await sql(`create function refuse_it() returns trigger language plpgsql as
    $$ begin if new.state_file_hash = 'impossible' then raise exception 'cannot keep this'; end if; return new; end $$`);
  await sql('create trigger refuse_it before update on deployment for each row execute function refuse_it()');
  const outcome = appliedOutcome({ stateFileHash: 'impossible', stateVersionId });
  for (let time = 1; time < 5; time++)
    await assert.rejects(agent.send('finish', next, { fence: next.fence, outcome }), /cannot keep this/);
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
  assert.equal(await agent.finish(next, outcome), null);
  assert.equal(await agent.finish(next, outcome), null);
  const ended = await deploymentOf(id);
  assert.deepEqual([ended.status, ended.stateVersionId], ['INTERNAL_FAILURE', stateVersionId]);
  assert.match(ended.error?.message ?? '', /outcome cannot be stored: cannot keep this/);
  assert.equal((await deploymentOf(queued.id)).status, 'IN_PROGRESS');
  await sql('drop trigger refuse_it on deployment');
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { untilTransactionWaits } from '../../../testing/locks.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { lockAttempt } from '../../rows/dispatch/attempt-store.ts';
import { getJob } from '../../rows/queue/job-store.ts';
import { loseAttempt } from './lose-attempt.ts';
import { storeMark } from './store-mark.ts';
import { sweepSilence } from './sweep-silence.ts';

const { app, agent, createEnvironment, deploymentOf } = await startAgentTests();

async function runningApply() {
  const environment = await createEnvironment({ requiresApproval: false });
  const job = await agent.plan();
  assert.ok(job);
  const place = {
    attempt: await lockAttempt(app.context.db, { job_id: job.jobId, number: job.attempt }),
    job: await getJob(app.context.db, job.jobId),
    environmentId: environment.id,
    organizationId: app.organizationId,
  };
  return { environment, job, place, id: environment.latestDeploymentLogId ?? '' };
}

test('an attempt is not started again when its start mark arrives during the give-up', async () => {
  const { place, id } = await runningApply();
  let losing: Promise<void> | undefined;
  await app.context.db.transaction().execute(async (tx) => {
    await storeMark({ ...app.context, db: tx as never }, place, { mark: randomUUID() });
    losing = app.context.db
      .transaction()
      .execute((other) =>
        loseAttempt({ ...app.context, db: other }, place.attempt, 'its agent no longer has it'),
      );
    losing.catch(() => undefined);
    await untilTransactionWaits(app.database);
  });
  await losing;
  assert.equal((await deploymentOf(id)).status, 'INTERNAL_FAILURE');
  assert.equal(await agent.claimAny(), null);
});

test('a run continues when its agent returns just before the give-up', async () => {
  const { environment, job, id } = await runningApply();
  await sweepSilence(app.context);
  app.advance(12);
  await sweepSilence(app.context);
  app.advance(12);
  let sweeping: Promise<void> | undefined;
  await app.context.db.transaction().execute(async (tx) => {
    await tx.selectFrom('environment').select('id').where('id', '=', environment.id).forUpdate().execute();
    sweeping = sweepSilence(app.context);
    sweeping.catch(() => undefined);
    await untilTransactionWaits(app.database);
    await agent.heartbeat([job]);
    await agent.mark(job);
  });
  await sweeping;
  assert.equal((await deploymentOf(id)).status, 'IN_PROGRESS');
  assert.deepEqual((await agent.heartbeat([job])).unwanted, []);
});

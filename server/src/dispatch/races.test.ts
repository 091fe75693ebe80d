import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { createEnvironment, deploymentOf } from '../testing/environment.ts';
import { getJob } from '../queue/job-store.ts';
import { lockAttempt } from './attempt-store.ts';
import { loseAttempt } from './lose-attempt.ts';
import { storeMark } from './store-mark.ts';
import { sweepSilence } from './sweep-silence.ts';

const app = await testApp();
const agent = await testAgent(app);

/** Waits until somebody waits for a lock that another transaction holds. */
async function somebodyWaits(): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(5)) {
    const { rows } = await app.database.pool.query(
      'select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()) or (not granted and database is null)',
    );
    if (rows.length > 0) return;
  }
  assert.fail('nobody waits for a lock');
}

async function runningApply() {
  const environment = await createEnvironment(app, { requiresApproval: false });
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
    await somebodyWaits();
  });
  await losing;
  assert.equal((await deploymentOf(app, id)).status, 'INTERNAL_FAILURE');
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
    await somebodyWaits();
    await agent.heartbeat([job]);
    await agent.mark(job);
  });
  await sweeping;
  assert.equal((await deploymentOf(app, id)).status, 'IN_PROGRESS');
  assert.deepEqual((await agent.heartbeat([job])).unwanted, []);
});

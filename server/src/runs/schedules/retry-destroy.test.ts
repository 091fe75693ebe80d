import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { plannedOutcome } from '../../../testing/agent.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { afterAttempt } from '../../tenancy/lifetimes/retry-destroy.ts';
import { fireTimers } from './fire-timers.ts';

const { app, agent, ok, sql, add, createActive, environmentOf, forgetWork } = await startAgentTests();
const pass = async (seconds: number) => {
  app.advance(seconds);
  await fireTimers(app.context);
};
const destroysOf = async (id: string) =>
  (await ok('listDeployments', { id })).flatMap(({ type, status }) => (type === 'destroy' ? [status] : []));
const changesOf = async (id: string): Promise<unknown[]> =>
  (
    await sql<{ change: unknown }>(
      `select data->'change' as change from organization_event
        where environment_id = $1 and name = 'environment' order by number`,
      id,
    )
  ).map(({ change }) => change);

test('the pauses between attempts grow, up to twelve hours', () => {
  const now = new Date('2026-11-21T10:00:00Z');
  const minutesAfter = (attempts: number) => {
    const next = afterAttempt({ ttl_attempts: attempts - 1 }, 'no agent', now).next_ttl_at;
    return (Number(next) - now.getTime()) / 60_000;
  };
  assert.deepEqual([1, 2, 3, 8, 9, 50].map(minutesAfter), [5, 10, 20, 640, 720, 720]);
});

test('a destroy at the end of a lifetime that fails is tried again, and says so until then', async () => {
  covers('Environment', 'waitingFor');
  const { id } = await createActive({ ttl: { type: 'HOURS', value: '1' } });
  await pass(3601);
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.deepEqual(await destroysOf(id), ['FAILURE']);
  const { waitingFor, status } = await environmentOf(id);
  assert.equal(status, 'FAILED');
  assert.equal(waitingFor?.kind, 'retry');
  assert.match(
    waitingFor.text,
    /could not be destroyed \(tried once\): the destroy .* ended as FAILURE\. It is tried again at/,
  );
  assert.equal((await changesOf(id)).at(-1), 'autoDestroyFailed');
  await pass(290);
  assert.equal((await destroysOf(id)).length, 1);
  await pass(20);
  assert.equal((await environmentOf(id)).waitingFor?.kind, 'agent');
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.match((await environmentOf(id)).waitingFor?.text ?? '', /tried 2 times/);
  await pass(310);
  assert.equal((await destroysOf(id)).length, 2, 'the second pause is longer');
  await pass(300);
  await agent.run([]);
  assert.deepEqual(await destroysOf(id), ['SUCCESS', 'FAILURE', 'FAILURE']);
  assert.equal((await environmentOf(id)).waitingFor, undefined);
  await pass(86_400);
  assert.equal((await destroysOf(id)).length, 3);
});

test('a destroy at the end that a person cancels is tried again; a new lifetime ends the attempts', async () => {
  const { id } = await createActive({ ttl: { type: 'HOURS', value: '1' } });
  await ok('updateEnvironment', { id, body: { requiresApproval: true } });
  await pass(3601);
  await agent.finish(await agent.claim(), plannedOutcome());
  const { latestDeploymentLogId } = await environmentOf(id);
  await ok('cancelDeployment', { id: latestDeploymentLogId ?? '' });
  assert.equal((await environmentOf(id)).waitingFor?.kind, 'retry');
  await ok('updateEnvironmentTtl', { id, body: { type: 'HOURS', value: '5' } });
  assert.equal((await environmentOf(id)).waitingFor, undefined);
  await pass(3600);
  assert.deepEqual(await destroysOf(id), ['CANCELLED']);
});

test('a destroy of a person that fails after the end is tried again as well, one before the end not', async () => {
  const { id } = await createActive({ ttl: { type: 'HOURS', value: '1' } });
  const failing = async () => {
    await ok('destroyEnvironment', { id });
    await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  };
  await failing();
  assert.equal((await environmentOf(id)).waitingFor, undefined);
  await ok('destroyEnvironment', { id });
  await pass(3601);
  assert.equal((await destroysOf(id)).length, 2, 'one under way is enough');
  await agent.finish(await agent.claim(), plannedOutcome({ result: 'failed' }));
  assert.equal((await environmentOf(id)).waitingFor?.kind, 'retry');
  await pass(301);
  assert.equal((await destroysOf(id)).length, 3);
});

test('a destroy at the end that a policy refuses is tried again with the reason, after a restart as well', async () => {
  await forgetWork();
  const project = await add('Project', 'kept');
  const { id } = await createActive({ projectId: project.id, ttl: { type: 'HOURS', value: '1' } });
  await ok('updatePolicy', { body: { projectId: project.id, numberOfEnvironments: 100 } });
  // As it is stored while another server still holds the lifetime: a policy otherwise ends it.
  await sql(
    'update project_policy set disable_destroy_environments = $2 where project_id = $1',
    project.id,
    true,
  );
  await pass(3601);
  const { waitingFor } = await environmentOf(id);
  assert.equal(waitingFor?.kind, 'retry');
  assert.match(waitingFor.text, /disableDestroyEnvironments/);
  assert.equal((await changesOf(id)).at(-1), 'autoDestroyFailed');
  assert.deepEqual(await destroysOf(id), []);
  await sql(
    'update project_policy set disable_destroy_environments = $2 where project_id = $1',
    project.id,
    false,
  );
  app.advance(301);
  // A server that has just started has nothing but the database.
  await fireTimers({ ...app.context });
  assert.equal((await destroysOf(id)).length, 1);
});

test('a long reason is cut between characters: messages and events that contain it can be stored', () => {
  const { ttl_problem: problem } = afterAttempt({ ttl_attempts: 0 }, `${'x'.repeat(999)}😀…`, new Date());
  assert.equal(problem?.isWellFormed(), true);
  assert.equal(problem?.length, 1000);
});
